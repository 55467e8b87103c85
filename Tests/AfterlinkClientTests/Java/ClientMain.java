import java.io.File;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** An app with the Java core, with the arguments and the output of `ClientProcess`. */
public final class ClientMain {
    private static final AtomicInteger STEPS = new AtomicInteger();

    public static void main(String[] arguments) throws Exception {
        Map<String, String> values = new HashMap<String, String>();
        for (String argument : arguments) {
            int sign = argument.indexOf('=');
            values.put(sign < 0 ? argument : argument.substring(0, sign), sign < 0 ? "" : argument.substring(sign + 1));
        }
        final int death = (int) number(values, "die", -1);
        AfterlinkCore.Options options = new AfterlinkCore.Options();
        options.folder = new File(values.get("folder"));
        options.server = values.get("server");
        options.appKey = values.get("key");
        options.isUpdate = values.containsKey("update");
        options.clockError = (long) (number(values, "clock", 0) * 1000);
        options.evidence = () -> {
            if (values.containsKey("failing")) throw new NoClassDefFoundError();
            Thread.sleep((long) (number(values, "slow", 0) * 1000));
            return evidence(values);
        };
        if (values.containsKey("log")) options.log = ClientMain::print;
        if (values.containsKey("failing")) options.log = line -> { throw new IllegalStateException(); };
        options.willTakeStep = () -> {
            if (STEPS.incrementAndGet() == death) Runtime.getRuntime().halt(137);
        };
        run(new AfterlinkCore(options), values);
        print("steps " + STEPS.get());
        System.exit(0);
    }

    private static void run(AfterlinkCore core, Map<String, String> values) throws Exception {
        core.opened(null);
        if (values.containsKey("opened")) core.opened(values.get("opened"));
        if (values.containsKey("optout")) core.setOptedOut(true);
        if (values.containsKey("optin")) core.setOptedOut(false);
        for (String name : values.getOrDefault("events", "").split(",")) {
            Map<String, Object> properties = new HashMap<String, Object>();
            if (name.equals("large")) properties.put("text", new String(new char[60_000]).replace('\0', 'a'));
            if (name.equals("infinite")) properties.put("number", Double.POSITIVE_INFINITY);
            if (name.equals("refund")) core.refund("id-purchase", "id-refund", "-9.99", "EUR");
            else if (!name.isEmpty()) core.track(name, "id-" + name, null, null, properties.isEmpty() ? null : properties);
        }
        if (values.containsKey("started")) interrupt(core, values);
        if (values.containsKey("optoutafter")) {
            long pause = (long) (number(values, "optoutafter", 0) * 1000);
            Executors.newSingleThreadScheduledExecutor()
                .schedule(() -> core.setOptedOut(true), pause, TimeUnit.MILLISECONDS);
        }
        if (!"no".equals(values.get("first"))) {
            long start = System.nanoTime();
            AfterlinkCore.FirstLaunch answer = core.firstLaunch((long) (number(values, "within", 3) * 1000));
            double seconds = (System.nanoTime() - start) / 1e9;
            switch (answer.kind) {
                case MATCH:
                    print("match " + answer.link.url + " " + answer.link.campaign + " " + answer.link.isGuaranteed);
                    break;
                case CAMPAIGN:
                    print("campaign " + answer.campaign);
                    break;
                default:
                    print(answer.kind.name().toLowerCase());
            }
            print("seconds " + seconds);
        }
        if (values.containsKey("flush")) print("flushed " + core.flush());
        if (values.containsKey("again")) {
            Thread.sleep((long) (number(values, "again", 0) * 1000));
            print("again " + core.flush());
        }
        if (values.containsKey("forget")) print("forgotten " + core.forget());
        if (values.containsKey("links") || values.containsKey("late")) {
            CountDownLatch links = new CountDownLatch((int) number(values, "links", 1));
            core.setListener(link -> {
                print("link " + link.url + " " + (link.isDeferred ? "deferred" : "opened"));
                links.countDown();
                if (values.containsKey("failing")) throw new IllegalStateException();
            });
            links.await((long) (number(values, "late", 60) * 1000), TimeUnit.MILLISECONDS);
        }
    }

    private static void interrupt(AfterlinkCore core, Map<String, String> values) throws Exception {
        Thread request = new Thread(() -> {
            if (values.containsKey("events")) core.flush();
            else core.firstLaunch(3000);
        });
        request.start();
        print("started " + exists(values.get("started")));
        if ("forget".equals(values.get("then"))) print("forgotten " + core.forget());
        else core.setOptedOut(true);
        print("ended " + exists(values.get("ended")));
        request.join();
    }

    private static boolean exists(String path) throws InterruptedException {
        for (int count = 0; count < 800 && !new File(path).exists(); count++) Thread.sleep(10);
        return new File(path).exists();
    }

    private static Map<String, Object> evidence(Map<String, String> values) {
        Map<String, Object> signals = new LinkedHashMap<String, Object>();
        Map<String, Object> screen = new LinkedHashMap<String, Object>();
        boolean isApple = "ios".equals(values.get("platform"));
        screen.put("width", isApple ? 390 : 1080);
        screen.put("height", isApple ? 844 : 2424);
        signals.put("model", isApple ? "iPhone" : "Pixel 9");
        signals.put("osVersion", isApple ? "17.2" : "16");
        signals.put("screen", screen);
        if (isApple) signals.put("scale", 3);
        signals.put("timezone", values.getOrDefault("timezone", "Europe/Istanbul"));
        signals.put("language", "tr");
        signals.put("languages", Arrays.asList("tr-TR"));
        Map<String, Object> evidence = new LinkedHashMap<String, Object>();
        if (isApple) evidence.put("platform", "ios");
        evidence.put("signals", signals);
        if (values.containsKey("referrer")) {
            Map<String, Object> play = new LinkedHashMap<String, Object>();
            long now = System.currentTimeMillis() / 1000;
            play.put("installReferrer", values.get("referrer"));
            play.put("referrerClickTimestampSeconds", now);
            play.put("installBeginTimestampSeconds", now + 20);
            play.put("referrerClickTimestampServerSeconds", now);
            play.put("installBeginTimestampServerSeconds", now + 20);
            play.put("installVersion", "1.0");
            play.put("googlePlayInstantParam", false);
            evidence.put("play", play);
        }
        return evidence;
    }

    private static double number(Map<String, String> values, String name, double standard) {
        return values.containsKey(name) ? Double.parseDouble(values.get(name)) : standard;
    }

    private static void print(String line) {
        System.out.println(line);
        System.out.flush();
    }
}
