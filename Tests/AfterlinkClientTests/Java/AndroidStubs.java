package stubs;

import java.io.File;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/** The classes of Android and of Play's library that the article's adapters use, with the members that they use. */
public final class AndroidStubs {
    public static class Context {
        public static final String WINDOW_SERVICE = "window";
        private final File folder;

        public Context(File folder) { this.folder = folder; }
        public File getNoBackupFilesDir() { return folder; }
        public String getPackageName() { return "com.example.shop"; }
        public PackageManager getPackageManager() { return new PackageManager(); }
        public Object getSystemService(String name) { return name.equals(WINDOW_SERVICE) ? new WindowManager() : null; }
    }

    public static class PackageManager {
        public PackageInfo getPackageInfo(String name, int flags) { return new PackageInfo(); }
    }

    public static class PackageInfo {
        public long firstInstallTime = 1;
    }

    public static class WindowManager {
        public Display getDefaultDisplay() { return new Display(); }
    }

    public static class Display {
        public void getRealSize(Point size) { size.x = 2340; size.y = 1080; }
    }

    public static class Point {
        public int x, y;
    }

    public static class Build {
        public static final String MODEL = "SM-A546E";

        public static class VERSION {
            public static final String RELEASE = "14";
        }
    }

    public static class LocaleList {
        public static LocaleList getDefault() { return new LocaleList(); }
        public int size() { return 2; }
        public java.util.Locale get(int index) { return java.util.Locale.forLanguageTag(index == 0 ? "hi-IN" : "en-GB"); }
    }

    public static class Intent {
        public static final int FLAG_ACTIVITY_LAUNCHED_FROM_HISTORY = 0x00100000;
        private final String data;
        private final int flags;

        public Intent(String data, int flags) { this.data = data; this.flags = flags; }
        public String getDataString() { return data; }
        public int getFlags() { return flags; }
    }

    /** The main thread's queue, from which the test's program takes. */
    public static class Looper {
        public static final BlockingQueue<Runnable> main = new LinkedBlockingQueue<>();

        public static Looper getMainLooper() { return new Looper(); }
    }

    public static class Handler {
        public Handler(Looper looper) {}
        public boolean post(Runnable action) { return Looper.main.add(action); }
    }

    public static class RemoteException extends Exception {
        private static final long serialVersionUID = 1;
    }

    public interface InstallReferrerStateListener {
        void onInstallReferrerSetupFinished(int code);
        void onInstallReferrerServiceDisconnected();
    }

    public static class ReferrerDetails {
        public String getInstallReferrer() { return "al=token"; }
        public String getInstallVersion() { return "1.0"; }
        public long getReferrerClickTimestampSeconds() { return 1; }
        public long getInstallBeginTimestampSeconds() { return 2; }
        public long getReferrerClickTimestampServerSeconds() { return 3; }
        public long getInstallBeginTimestampServerSeconds() { return 4; }
        public boolean getGooglePlayInstantParam() { return false; }
    }

    /** Each client reports the next code; `dead` is OK before a failure, and `lost` the end of the connection. */
    public static class InstallReferrerClient {
        public static Queue<String> codes;
        public static int openCount;
        private boolean isDead;

        public static class InstallReferrerResponse {
            public static final int SERVICE_DISCONNECTED = -1, OK = 0, SERVICE_UNAVAILABLE = 1, FEATURE_NOT_SUPPORTED = 2;
        }

        public static InstallReferrerClient newBuilder(Context context) { return new InstallReferrerClient(); }
        public InstallReferrerClient build() { return this; }

        public void startConnection(InstallReferrerStateListener listener) {
            openCount++;
            String[] parts = codes.remove().split(":");
            isDead = parts[0].equals("dead");
            new Thread(() -> {
                try { Thread.sleep(Long.parseLong(parts[1])); } catch (InterruptedException interruption) { return; }
                if (parts[0].equals("lost")) listener.onInstallReferrerServiceDisconnected();
                else listener.onInstallReferrerSetupFinished(isDead ? 0 : Integer.parseInt(parts[0]));
            }).start();
        }

        public ReferrerDetails getInstallReferrer() throws RemoteException {
            if (isDead) throw new RemoteException();
            return new ReferrerDetails();
        }

        public void endConnection() { openCount--; }
    }
}
