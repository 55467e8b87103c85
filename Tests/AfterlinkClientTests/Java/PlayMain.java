/** Calls `playReport` of the article. Its argument has the codes that Play reports, each with a pause before it. */
public final class PlayMain {
    public static void main(String[] arguments) throws Exception {
        InstallReferrerClient.codes = new java.util.ArrayDeque<String>(java.util.Arrays.asList(arguments));
        long start = System.nanoTime();
        java.util.Map<String, Object> report = Adapter.playReport(new Context());
        System.out.println(report == null ? "null" : report.size() + " " + report.get("installReferrer"));
        System.out.println("seconds " + (System.nanoTime() - start) / 1e9);
        System.out.println("open " + InstallReferrerClient.openCount);
        System.exit(0);
    }
}

class Context {}

class RemoteException extends Exception {
    private static final long serialVersionUID = 1;
}

interface InstallReferrerStateListener {
    void onInstallReferrerSetupFinished(int code);
    void onInstallReferrerServiceDisconnected();
}

class InstallReferrerResponse {
    static final int SERVICE_DISCONNECTED = -1, OK = 0, SERVICE_UNAVAILABLE = 1, FEATURE_NOT_SUPPORTED = 2;
}

class ReferrerDetails {
    String getInstallReferrer() { return "al=token"; }
    String getInstallVersion() { return "1.0"; }
    long getReferrerClickTimestampSeconds() { return 1; }
    long getInstallBeginTimestampSeconds() { return 2; }
    long getReferrerClickTimestampServerSeconds() { return 3; }
    long getInstallBeginTimestampServerSeconds() { return 4; }
    boolean getGooglePlayInstantParam() { return false; }
}

/** Each client reports the next code; `dead` is OK before a failure, and `lost` the end of the connection. */
class InstallReferrerClient {
    static java.util.Queue<String> codes;
    static int openCount;
    private boolean isDead;

    static InstallReferrerClient newBuilder(Context context) { return new InstallReferrerClient(); }
    InstallReferrerClient build() { return this; }

    void startConnection(InstallReferrerStateListener listener) {
        openCount++;
        String[] parts = codes.remove().split(":");
        isDead = parts[0].equals("dead");
        new Thread(() -> {
            try { Thread.sleep(Long.parseLong(parts[1])); } catch (InterruptedException interruption) { return; }
            if (parts[0].equals("lost")) listener.onInstallReferrerServiceDisconnected();
            else listener.onInstallReferrerSetupFinished(isDead ? 0 : Integer.parseInt(parts[0]));
        }).start();
    }

    ReferrerDetails getInstallReferrer() throws RemoteException {
        if (isDead) throw new RemoteException();
        return new ReferrerDetails();
    }

    void endConnection() { openCount--; }
}
