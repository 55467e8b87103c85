/** Calls `playReport` of the article. Its argument has the codes that Play reports, each with a pause before it. */
public final class PlayMain {
    public static void main(String[] arguments) throws Exception {
        InstallReferrerClient.codes = new java.util.ArrayDeque<String>(java.util.Arrays.asList(arguments));
        long start = System.nanoTime();
        java.util.Map<String, Object> report = Adapter.playReport(new Context(null));
        System.out.println(report == null ? "null" : report.size() + " " + report.get("installReferrer"));
        System.out.println("seconds " + (System.nanoTime() - start) / 1e9);
        System.out.println("open " + InstallReferrerClient.openCount);
        System.exit(0);
    }
}
