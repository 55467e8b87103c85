import static java.nio.charset.StandardCharsets.UTF_8;
import java.io.*;
import java.net.*;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;
import java.util.*;
import java.util.concurrent.*;

/**
 * The connection of an Android app to its Afterlink server, in plain Java 8 without dependencies.
 *
 * <p>Create one and keep it as long as the app runs. The calls block: make them on a thread of your own, never on the
 * main thread. No call throws. The state is stored before each request and before a result is returned. So if the
 * process is killed at any time, the next launch continues from that state, and no result is returned twice.
 */
public final class AfterlinkCore {
    /** Receives a link, or a line of the log, on a thread of the library. */
    public interface Receiver<T> { void receive(T value); }

    /** A link to open in the app. */
    public static final class Link {
        public final String url;
        /** Whether the click before the installation had the link; false if the link opened the app. */
        public final boolean isDeferred;
        /** The campaign key, or null. */
        public final String campaign;
        /** The probability that this installation came from the click. */
        public final double confidence;
        /** Whether a signed token named the click. */
        public final boolean isGuaranteed;
        /** The server's response, with `metadata`, `jid`, `click_id` and `attributionMethod`. */
        public final Map<String, Object> answer;

        Link(String url, Json answer) {
            this.url = url;
            this.answer = answer;
            isDeferred = !answer.isEmpty();
            campaign = answer.text("campaignKey");
            confidence = answer.number("confidence", isDeferred ? 0 : 1);
            isGuaranteed = !isDeferred || answer.is("guaranteed");
        }
    }

    /** The result of a first launch. */
    public static final class FirstLaunch {
        /**
         * `MATCH`: open `link`; no other call returns it again. `CAMPAIGN`: a campaign led here, and there is no link.
         * `NONE`: no click led here. `PENDING`: there is no result yet; the library continues to ask, and the listener
         * gets a late link. `SETTLED`: there is nothing to do.
         */
        public enum Kind { MATCH, CAMPAIGN, NONE, PENDING, SETTLED }
        public final Kind kind;
        /** The link of a match, or null. */
        public final Link link;
        /** The campaign key of a match or a campaign, or null. */
        public final String campaign;

        FirstLaunch(Kind kind, Link link) {
            this.kind = kind;
            this.link = kind == Kind.MATCH ? link : null;
            campaign = link == null ? null : link.campaign;
        }
    }

    /** The choices of an app for its connection. */
    public static final class Options {
        /** A folder that no backup contains: on Android one in `getNoBackupFilesDir()`. */
        public File folder;
        /** The address of the server, such as `https://links.example`. */
        public String server;
        /** The app key, which starts with `app_` or `test_`. */
        public String appKey;
        /** Returns the members `signals` and `play` of the request; called on a thread of the library. */
        public Callable<Map<String, Object>> evidence;
        /** Whether the app was used before its first release with this library. */
        public boolean isUpdate;
        /** Gets log lines for a developer, without keys, tokens, identifiers or values of the device. */
        public Receiver<String> log;
        /** Called before each step, so that tests can end the process there. */
        Runnable willTakeStep;
        /** The error of the device's clock in tests, in milliseconds. */
        long clockError;
    }

    private static final int MAXIMUM_LAUNCHES = 5, MAXIMUM_ATTEMPTS = 30, REQUEST_MILLIS = 10_000;
    private static final long WEEK = 7 * 86_400_000L, MAXIMUM_PAUSE = 3_600_000L;
    private static final int RESPONSE_BYTES = 131_072, MAXIMUM_EVENTS = 500, EVENT_BYTES = 48 * 1024, BATCH = 20;
    private static final FirstLaunch PENDING = new FirstLaunch(FirstLaunch.Kind.PENDING, null);
    private static final FirstLaunch SETTLED = new FirstLaunch(FirstLaunch.Kind.SETTLED, null);
    private final Options options;
    private final ScheduledExecutorService thread = daemon("Afterlink"), timer = daemon("Afterlink timer");
    /** One thread calls the listener, the other one sends the requests that no call waits for. */
    private final ScheduledExecutorService links = daemon("Afterlink links"), sender = daemon("Afterlink sender");
    private final Queue<Link> openedLinks = new ConcurrentLinkedQueue<Link>();
    /** The token of a link that opened the app. */
    private volatile String heldToken;
    private final Object sending = new Object();
    /** The end of the pause that the server requested before the next events, by `System.nanoTime()`. */
    private long pauseEnd = System.nanoTime();
    private final Set<HttpURLConnection> requests = new HashSet<HttpURLConnection>();
    /** The number of opt-outs so far. A request that was prepared before the last opt-out is not sent. */
    private volatile int stops;
    /** The person's choices that are not on disk yet. Each change of the stored state first applies them. */
    private final List<Change<?>> unstoredChoices = new ArrayList<Change<?>>();
    private volatile boolean isNewLaunch = true, isRetrying, isFolderChanged;
    private volatile Receiver<Link> listener;
    private boolean isAsking, isLate;
    private int waiting, diskFailures;

    public AfterlinkCore(Options options) { this.options = options; }
    private File stateFile() { return new File(options.folder, "state.json"); }
    private File eventFile() { return new File(options.folder, "events.jsonl"); }

    private static ScheduledExecutorService daemon(String name) {
        return Executors.newSingleThreadScheduledExecutor(work -> new Thread(work, name) {{ setDaemon(true); }});
    }

    /** Returns the result of this installation's first launch, within the limit. Call it at each launch. */
    public FirstLaunch firstLaunch(long limitMillis) {
        long end = System.nanoTime() + limitMillis * 1_000_000;
        synchronized (this) {
            final int stops = this.stops;
            if (!isAsking) thread.execute(() -> ask(0, stops));
            isAsking = true;
            waiting++;
            try {
                for (long left; isAsking && (left = (end - System.nanoTime()) / 1_000_000) > 0; ) wait(left);
            } catch (InterruptedException interruption) { Thread.currentThread().interrupt(); }
            waiting--;
            if (isAsking) { isLate = true; return PENDING; }
        }
        FirstLaunch answer = handOver(this::take);
        sender.execute(this::syncFolder);
        if (answer != null && answer.kind != FirstLaunch.Kind.PENDING) return answer;
        synchronized (this) { isLate = true; }
        links.execute(this::deliver);
        return PENDING;
    }

    private void stopAsking(int stops) {
        synchronized (this) { isAsking = isAsking && stops != this.stops; notifyAll(); }
        links.execute(this::deliver);
        // Earlier sessions may have left events.
        if (eventFile().length() > 0) sender.execute(this::flush);
    }

    /** Asks once, and plans the next request, until an opt-out; `failures` is the number of failures in a row. */
    private void ask(int failures, int stops) {
        if (stops != this.stops) return;
        saveHeldToken();
        final Step step = update(this::nextStep);
        long pause = step == null ? pause(++failures, null) : step.pause;
        if (step != null && step.isFinished) {
            if (step.erasures != null) sender.execute(() -> erase(step.erasures));
        } else if (pause == 0) {
            isNewLaunch = false;
            Response response = send("/v1/deferred-deeplink/resolve", body(step), stops);
            log("First launch: the server responded with status " + response.status + ".");
            final Json answer = response.launchAnswer();
            step.isFinished = response.isRefused();
            boolean isStored = answer != null && update(state -> store(state, answer)) != null;
            if (!isStored && !step.isFinished) {
                double end = now() + (pause = pause(++failures, response.retryAfter));
                if (response.retryAfter != null) update(state -> state.put("notBefore", end));
            }
        }
        final int count = failures;
        if (step != null && step.isFinished || failures >= MAXIMUM_ATTEMPTS) stopAsking(stops);
        else thread.schedule(() -> ask(count, stops), pause, TimeUnit.MILLISECONDS);
    }

    private static long pause(int failures, Long retryAfter) {
        double doubled = Math.min(400 * Math.pow(2, failures - 1), 60_000) * (0.8 + 0.4 * Math.random());
        return retryAfter != null ? Math.max(retryAfter, (long) doubled) : (long) doubled;
    }

    private Json body(Step step) {
        Json body = Json.of("platform", "android").with("install_id", step.installId);
        try {
            if (options.evidence != null) body.putAll(options.evidence.call());
        } catch (Throwable failure) { log("The evidence of the launch could not be read: " + name(failure)); }
        return body.with("token", step.token);
    }

    private interface Change<T> { T apply(Json state) throws IOException; }
    private static final class Step { boolean isFinished; long pause; String installId, token, erasures; }
    private static String newId() { return UUID.randomUUID().toString(); }
    private static Json newState(String phase) { return Json.of("installID", newId()).with("phase", phase); }

    /** Returns the next step; if it is a request, records the request first. */
    private Step nextStep(Json state) {
        Step step = new Step();
        step.erasures = state.text("erasures");
        step.isFinished = !isOpen(state);
        if (step.isFinished) return step;
        double launches = state.number("launches", 0), first = state.number("firstAskedAt", now());
        // The days count only from the third launch on, because the clock may have been wrong at the first launch.
        step.isFinished = isNewLaunch && (launches >= MAXIMUM_LAUNCHES || launches >= 2 && now() - first > WEEK);
        if (step.isFinished) state.put("phase", "settled");
        // A longer wait means that the clock was set back.
        double wait = state.number("notBefore", 0) - now();
        step.pause = wait > 0 && wait <= MAXIMUM_PAUSE ? (long) wait + 1 : 0;
        if (step.isFinished || step.pause > 0) return step;
        state.remove("notBefore");
        step.token = state.text("openedToken");
        state.with("phase", "asked").with("firstAskedAt", first).put("sentToken", step.token);
        if (isNewLaunch) state.put("launches", launches + 1);
        step.installId = state.text("installID");
        return step;
    }

    /** Returns whether the library still has to ask the server. */
    private static boolean isOpen(Json state) {
        return !state.is("isOptedOut") && (state.has("phase", "new") || state.has("phase", "asked"));
    }

    /** Stores a result, unless another process has stored one. */
    private static boolean store(Json state, Json answer) {
        if (!isOpen(state)) return true;
        // A token that came meanwhile may still find the click.
        String opened = state.text("openedToken");
        boolean isNewToken = opened != null && !state.has("sentToken", opened);
        if (!isNewToken || !answer.has("status", "no_match")) state.with("phase", "answered").put("answer", answer);
        return true;
    }

    /** Returns the result for the app, and records that the app has it. */
    private FirstLaunch take(Json state) {
        if (state.is("isOptedOut") || state.has("phase", "settled")) return SETTLED;
        if (!state.has("phase", "answered")) return PENDING;
        boolean hasLink = hasLink(state);
        state.put("phase", "settled");
        Json answer = state.object("answer");
        if (!answer.has("status", "match")) return new FirstLaunch(FirstLaunch.Kind.NONE, null);
        Link link = new Link(answer.text("url"), answer);
        if (hasLink) return new FirstLaunch(FirstLaunch.Kind.MATCH, link);
        return link.campaign == null ? SETTLED : new FirstLaunch(FirstLaunch.Kind.CAMPAIGN, link);
    }

    /** Returns whether the result has a link to open; not if the click's own link has opened the app already. */
    private static boolean hasLink(Json state) {
        Json answer = state.object("answer");
        String sent = state.text("sentToken"), method = String.valueOf(answer.text("attributionMethod"));
        boolean isOpened = sent != null && state.has("openedToken", sent) && method.matches("signed_token|click_id");
        return isMatch(answer) && !isOpened && !state.has("phase", "settled") && !state.is("isOptedOut");
    }

    /** Sets the listener that receives links: late matches, and those that the app passes to {@link #opened}. */
    public void setListener(Receiver<Link> listener) { this.listener = listener; links.execute(this::deliver); }

    /** Receives a link that opened the app. Call it before {@link #firstLaunch} if both are due. */
    public void opened(String url) {
        if (url == null) return;
        String[] parts = withoutToken(url);
        openedLinks.add(new Link(parts[0], new Json()));
        links.execute(this::deliver);
        if (parts[1] != null) heldToken = parts[1];
        saveHeldToken();
    }

    /** Returns a link without its item `al`, and the token, or null for none. */
    private static String[] withoutToken(String url) {
        int fragment = url.indexOf('#'), query = url.indexOf('?');
        String end = fragment < 0 ? "" : url.substring(fragment), start = url.substring(0, url.length() - end.length());
        if (query < 0 || query >= start.length()) return new String[] {url, null};
        String token = null;
        StringBuilder rest = new StringBuilder(start.substring(0, query));
        for (String item : start.substring(query + 1).split("&")) {
            if (!item.startsWith("al=")) rest.append(rest.length() == query ? '?' : '&').append(item);
            else if (token == null && item.matches("al=[A-Za-z0-9_-]{20,128}")) token = item.substring(3);
        }
        return new String[] {rest + end, token};
    }

    private void saveHeldToken() {
        final String token = heldToken;
        // After the result, a token no longer shows what led to the installation. After an opt-out, none may be stored.
        if (token != null) update(state -> isOpen(state) ? state.put("openedToken", token) : (heldToken = null));
    }

    /** Calls the listener with each link that is due. Runs on the thread {@link #links}. */
    private void deliver() {
        while (true) {
            Receiver<Link> receiver = listener;
            if (receiver == null) return;
            Link link = openedLinks.poll();
            boolean isDue;
            // A call that waits for the first launch has precedence.
            synchronized (this) { isDue = link == null && isLate && !isAsking && waiting == 0; }
            if (isDue) {
                List<Link> late = handOver(state -> Arrays.asList(hasLink(state) ? take(state).link : null));
                sender.execute(this::syncFolder);
                if (late == null) retryLater(); else link = late.get(0);
            }
            if (link == null) return;
            call(receiver, link);
        }
    }

    /** Stores the person's choices and a late link after a pause. */
    private void retryLater() {
        if (isRetrying) return;
        isRetrying = true;
        links.schedule(() -> {
            isRetrying = false;
            if (update(state -> state) == null) retryLater();
            deliver();
        }, pause(++diskFailures, null), TimeUnit.MILLISECONDS);
    }

    /** Returns the match of this installation, also after {@link #firstLaunch} has returned it; null for none. */
    public Link match() {
        Json answer = update(state -> state.object("answer"));
        return answer != null && isMatch(answer) ? new Link(answer.text("url"), answer) : null;
    }

    private static boolean isMatch(Json answer) { return answer.has("status", "match") && !answer.is("campaignOnly"); }

    /** Returns the random identifier of this installation; null if the disk cannot store it, or after an opt-out. */
    public String installId() { return update(state -> state.is("isOptedOut") ? null : state.text("installID")); }

    /** Stores an event for the next {@link #flush}. The server counts each `id` once; null means a random one. */
    public boolean track(String name, String id, String amount, String currency, Map<String, Object> properties) {
        return track(Json.of("name", name).with("properties", properties), id, amount, currency);
    }

    /** Stores a refund of the purchase with this `id`. The amount is negative; null means the whole purchase. */
    public boolean refund(String purchase, String id, String amount, String currency) {
        return track(Json.of("name", "refund").with("purchase_id", purchase), id, amount, currency);
    }

    private boolean track(Json event, String id, String amount, String currency) {
        event.with("event_id", id == null ? newId() : id).with("occurred_at", time(now()));
        event.with("amount", amount).with("currency", currency);
        return Boolean.TRUE.equals(update(state -> {
            if (state.is("isOptedOut")) return false;
            event.put("install_id", state.text("installID"));
            String line = event.write();
            if (line.getBytes(UTF_8).length > EVENT_BYTES / 8 || Json.read(line) == null) {
                log("An event was not stored: it is larger than 6 KiB, or has a number that JSON does not permit.");
                return false;
            }
            List<Json> events = events();
            for (Json other : events) if (other.has("event_id", event.text("event_id"))) return true;
            events.add(event);
            return saveEvents(events, Collections.emptySet());
        }));
    }

    /** Sends the stored events in batches, unless the server requested a pause. Returns whether no event is left. */
    public boolean flush() {
        synchronized (sending) {
            for (int count = BATCH; ; ) {
                final int stops = this.stops;
                List<Json> events = update(state -> state.is("isOptedOut") ? null : events());
                if (events == null || events.isEmpty()) return events != null;
                if (pauseEnd - System.nanoTime() > 0) return false;
                List<Json> batch = events.subList(0, Math.min(count, events.size()));
                Response response = send("/v1/events", Json.of("events", batch), stops);
                Object results = response.isSuccess() ? response.json.get("results") : null;
                Set<Object> done = new HashSet<Object>();
                if (results instanceof List && ((List<?>) results).size() == batch.size()) {
                    for (Json event : batch) done.add(event.text("event_id"));
                } else if (response.isRefused() && (response.status == 400 || response.status == 413)) {
                    // One event makes the server refuse the batch: halve the batch to find and drop that event.
                    count = Math.max(batch.size() / 2, 1);
                    if (batch.size() > 1) continue;
                    done.add(batch.get(0).text("event_id"));
                }
                if (response.retryAfter != null) pauseEnd = System.nanoTime() + response.retryAfter * 1_000_000;
                if (done.isEmpty() || update(state -> saveEvents(events(), done)) == null) return false;
            }
        }
    }

    private List<Json> events() throws IOException {
        List<Json> events = new ArrayList<Json>();
        String text = read(eventFile()), oldest = time(now() - WEEK);
        for (String line : text == null ? new String[0] : text.split("\n")) {
            Json event = Json.read(line);
            // Texts of this format sort in the order of their times.
            if (event != null && String.valueOf(event.text("occurred_at")).compareTo(oldest) > 0) events.add(event);
        }
        return events;
    }

    /** Writes the newest events, except those whose identifiers are in `done`. */
    private boolean saveEvents(List<Json> events, Set<Object> done) throws IOException {
        StringBuilder text = new StringBuilder();
        int bytes = 0;
        events.removeIf(event -> done.contains(event.text("event_id")));
        for (int index = events.size() - 1; index >= Math.max(events.size() - MAXIMUM_EVENTS, 0); index--) {
            String line = events.get(index).write() + "\n";
            if ((bytes += line.getBytes(UTF_8).length) > EVENT_BYTES) break;
            text.insert(0, line);
        }
        replace(eventFile(), text.toString());
        return true;
    }

    private static String time(long millis) {
        Calendar calendar = new GregorianCalendar(TimeZone.getTimeZone("UTC"), Locale.ROOT);
        calendar.setTimeInMillis(millis);
        return String.format(Locale.ROOT, "%1$tFT%1$tT.%1$tLZ", calendar);
    }

    /** Stops all requests and deletes the stored events and token, or permits requests again. The choice is stored. */
    public void setOptedOut(boolean isOptedOut) {
        choose(isOptedOut, state -> {
            if (isOptedOut) { heldToken = null; state.remove("openedToken"); }
            else if (isDue(state, state.text("erasures"))) state.put("installID", newId());
            return state.with("isOptedOut", isOptedOut);
        });
    }

    /** Opts out, deletes what is stored, and asks the server to erase the installation. Returns whether it is erased. */
    public boolean forget() {
        Json changed = choose(true, state -> {
            String id = state.text("installID"), due = state.text("erasures");
            if (!isDue(state, due)) due = due == null ? id : due + " " + id;
            state.clear();
            state.putAll(newState("settled").with("isOptedOut", true).with("erasures", due).with("installID", id));
            return state;
        });
        // A request that arrived after the erasure would be stored for good.
        try {
            synchronized (requests) { while (!requests.isEmpty()) requests.wait(); }
        } catch (InterruptedException interruption) { Thread.currentThread().interrupt(); return false; }
        return changed != null && erase(changed.text("erasures"));
    }

    /** Applies a choice of the person, and holds it in memory until it is on disk; `isEnd` ends all requests. */
    private Json choose(boolean isEnd, Change<Json> choice) {
        Json changed;
        synchronized (AfterlinkCore.class) {
            // A call that waits for the first launch returns, and reads the choice as soon as this lock is free.
            if (isEnd) synchronized (this) { stops++; isAsking = false; notifyAll(); }
            unstoredChoices.add(choice);
            changed = update(state -> state);
            if (changed == null) retryLater();
        }
        if (isEnd) synchronized (requests) { for (HttpURLConnection request : requests) request.disconnect(); }
        return changed;
    }

    /** Returns whether the identifiers to erase, which blanks separate, include the current one. */
    static boolean isDue(Json state, String ids) { return ids != null && ids.contains(state.text("installID")); }

    private boolean erase(String due) {
        final int stops = this.stops;
        for (String id : due.split(" ")) {
            if (!send("/v1/erase", Json.of("install_id", id), stops).isSuccess()) return false;
        }
        update(state -> {
            // If an identifier was added meanwhile, all of them stay due, and the server erases some of them twice.
            if (state.has("erasures", due)) state.remove("erasures");
            if (isDue(state, due)) state.put("installID", newId());
            return state;
        });
        return true;
    }

    /** Changes the stored state, and returns what the change returns; null if the disk failed. */
    private <T> T update(Change<T> change) {
        try { return handOver(change); } finally { syncFolder(); }
    }

    /** Does the same as {@link #update} without syncing the folder: a kill during the sync would lose the result. */
    private <T> T handOver(Change<T> change) {
        // One lock for all objects of a process, because a process can take the lock of a file only once.
        synchronized (AfterlinkCore.class) {
            if (!options.folder.isDirectory()) step();
            options.folder.mkdirs();
            try (RandomAccessFile file = new RandomAccessFile(new File(options.folder, "state.lock"), "rw")) {
                file.getChannel().lock();
                String stored = read(stateFile());
                Json state = stored == null ? null : Json.read(stored);
                boolean isNew = state == null || state.text("installID") == null;
                if (isNew) state = newState(options.isUpdate ? "settled" : "new");
                for (Change<?> choice : unstoredChoices) {
                    choice.apply(state);
                    // If the events cannot be deleted, the choice counts as not stored, and is made again.
                    boolean isDone = !state.is("isOptedOut") || eventFile().delete() || !eventFile().exists();
                    if (!isDone) throw new IOException("delete");
                }
                T result = change.apply(state);
                if (!state.write().equals(stored)) replace(stateFile(), state.write());
                unstoredChoices.clear();
                return result;
            } catch (IOException failure) {
                log("The disk failed, and the library tries again later: " + name(failure));
                return null;
            }
        }
    }

    /** Returns the text of a file; null if there is no such file. A file that cannot be read is a failure. */
    private static String read(File file) throws IOException {
        if (!file.exists()) return null;
        try (InputStream input = new FileInputStream(file)) { return new String(bytes(input, 1 << 20), UTF_8); }
    }

    private void replace(File file, String text) throws IOException {
        File draft = new File(file.getPath() + ".new");
        step();
        try (FileOutputStream output = new FileOutputStream(draft)) {
            output.write(text.getBytes(UTF_8));
            step();
            output.getFD().sync();
        }
        step();
        // The rename may record that the app has its result. So it comes last, and the result is returned at once.
        if (!draft.renameTo(file)) throw new IOException("rename");
        isFolderChanged = true;
        diskFailures = 0;
    }

    /** Ensures that files keep their new names after a power failure, where the system can: Android from API 26 on. */
    private void syncFolder() {
        if (!isFolderChanged) return;
        isFolderChanged = false;
        try (FileChannel folder = FileChannel.open(options.folder.toPath(), StandardOpenOption.READ)) {
            folder.force(true);
        } catch (IOException | RuntimeException | LinkageError refusal) { return; }
    }

    private static byte[] bytes(InputStream input, int limit) throws IOException {
        ByteArrayOutputStream output = new ByteArrayOutputStream();
        byte[] buffer = new byte[4096];
        for (int count; (count = input.read(buffer)) >= 0; ) {
            output.write(buffer, 0, count);
            if (output.size() > limit) throw new IOException("too large");
        }
        return output.toByteArray();
    }

    private static String name(Throwable failure) { return failure.getClass().getSimpleName() + "."; }
    private void step() { if (options.willTakeStep != null) options.willTakeStep.run(); }
    private long now() { return System.currentTimeMillis() + options.clockError; }
    private void log(String text) { call(options.log, "Afterlink: " + text); }

    /** Calls the app, whose failure must not stop the library. */
    private <T> void call(Receiver<T> receiver, T value) {
        try {
            if (receiver != null) receiver.receive(value);
        } catch (Throwable failure) { if (receiver != options.log) log("The listener failed: " + name(failure)); }
    }

    /** A response; its status is 0 if it is not complete. */
    private static final class Response {
        int status;
        Long retryAfter;  // Milliseconds
        Json json = new Json();
        boolean isSuccess() { return status / 100 == 2 && !json.isEmpty(); }

        /** Returns whether the server itself, and not a device on the way, refused the request for good. */
        boolean isRefused() {
            return status / 100 == 4 && status != 429 && status != 408 && json.text("error_code") != null;
        }

        /** Returns the result of a first launch; null if the response is not of the documented form. */
        Json launchAnswer() {
            boolean isUsable = json.is("campaignOnly") || String.valueOf(json.text("url")).contains(":");
            boolean isAnswer = json.has("status", "no_match") || json.has("status", "match") && isUsable;
            return isSuccess() && isAnswer ? json : null;
        }
    }

    private Response send(String call, Json body, int stops) {
        Response response = new Response();
        HttpURLConnection connection = null;
        step();
        try {
            connection = (HttpURLConnection) new URL(options.server.replaceFirst("/$", "") + call).openConnection();
            synchronized (requests) { requests.add(connection); }
            // The system's limits start again with each byte, so a slow server could take any length of time.
            timer.schedule(connection::disconnect, REQUEST_MILLIS, TimeUnit.MILLISECONDS);
            connection.setConnectTimeout(REQUEST_MILLIS);
            connection.setReadTimeout(REQUEST_MILLIS);
            // The sign-in page of a network (a captive portal) redirects. The key must not go there.
            connection.setInstanceFollowRedirects(false);
            connection.setRequestMethod("POST");
            connection.setDoOutput(true);
            connection.setRequestProperty("Authorization", "Bearer " + options.appKey);
            connection.setRequestProperty("Content-Type", "application/json");
            connection.setRequestProperty("X-SDK-Version", "afterlink-java/1.0.0");
            byte[] bytes = body.write().getBytes(UTF_8);
            connection.setFixedLengthStreamingMode(bytes.length);
            OutputStream output = connection.getOutputStream();
            // An opt-out cannot end a connection that is still being made, so test again here.
            if (stops != this.stops) throw new IOException("opted out");
            output.write(bytes);
            int status = connection.getResponseCode();
            String after = connection.getHeaderField("Retry-After");
            // A date counts from the server's own time, because the device's clock may be wrong.
            long date = connection.getHeaderFieldDate("Retry-After", 0) - connection.getHeaderFieldDate("Date", now());
            long pause = after != null && after.matches("[0-9]{1,9}") ? Long.parseLong(after) * 1000 : date;
            if (after != null && pause >= 0) response.retryAfter = Math.min(pause, MAXIMUM_PAUSE);
            InputStream input = status < 400 ? connection.getInputStream() : connection.getErrorStream();
            byte[] received = input == null ? new byte[0] : bytes(input, RESPONSE_BYTES);
            if (received.length < connection.getContentLength()) throw new IOException("cut");
            Json json = Json.read(new String(received, UTF_8));
            if (json != null) response.json = json;
            response.status = status;
        } catch (IOException | RuntimeException error) { log("No complete response has come."); } finally {
            if (connection != null) connection.disconnect();
            synchronized (requests) { if (requests.remove(connection)) requests.notifyAll(); }
            step();
        }
        return response;
    }

    /** An object of JSON. Its arrays are lists, and its numbers doubles; one too large for a double is null. */
    static final class Json extends LinkedHashMap<String, Object> {
        private static final long serialVersionUID = 1;
        static Json of(String name, Object value) { return new Json().with(name, value); }
        /** Sets a member, unless the value is null. */
        Json with(String name, Object value) { if (value != null) put(name, value); return this; }
        String text(String name) { return get(name) instanceof String ? (String) get(name) : null; }
        boolean is(String name) { return Boolean.TRUE.equals(get(name)); }
        boolean has(String name, String value) { return value.equals(get(name)); }
        Json object(String name) { return get(name) instanceof Json ? (Json) get(name) : new Json(); }
        double number(String name, double other) { return get(name) instanceof Double ? (Double) get(name) : other; }

        /** Reads an object; returns null if the text is not an object. */
        static Json read(String text) {
            try {
                Reader reader = new Reader(text);
                Object value = reader.value(0);
                return value instanceof Json && text.substring(reader.index).trim().isEmpty() ? (Json) value : null;
            } catch (RuntimeException malformed) { return null; }
        }

        String write() { return write(this); }
        private static String write(Object value) {
            boolean isMap = value instanceof Map;
            StringJoiner parts = new StringJoiner(",", isMap ? "{" : "[", isMap ? "}" : "]");
            if (isMap) ((Map<?, ?>) value).forEach((name, member) -> parts.add(write("" + name) + ":" + write(member)));
            else if (value instanceof Iterable) ((Iterable<?>) value).forEach(element -> parts.add(write(element)));
            if (isMap || value instanceof Iterable) return parts.toString();
            boolean isWhole = value instanceof Double && (Double) value % 1 == 0 && Math.abs((Double) value) < 1e15;
            if (isWhole) return String.valueOf(((Double) value).longValue());
            if (value instanceof Number || value instanceof Boolean || value == null) return String.valueOf(value);
            StringBuilder text = new StringBuilder("\"");
            for (char next : value.toString().toCharArray()) {
                text.append("\"\\".indexOf(next) >= 0 || next < ' ' ? String.format("\\u%04x", (int) next) : "" + next);
            }
            return text.append('"').toString();
        }

        private static final class Reader {
            final String text;
            int index;
            Reader(String text) { this.text = text; }
            void blanks() { while (index < text.length() && " \t\r\n".indexOf(text.charAt(index)) >= 0) index++; }
            boolean take(char character) { blanks(); return text.charAt(index) == character && index++ >= 0; }
            void require(char character) { if (!take(character)) throw new IllegalArgumentException(); }

            Object value(int depth) {
                if (depth > 64) throw new IllegalArgumentException();
                if (take('{')) {
                    Json object = new Json();
                    for (String name; !take('}'); object.put(name, value(depth + 1))) {
                        if (!object.isEmpty()) require(',');
                        require('"');
                        name = string();
                        require(':');
                    }
                    return object;
                }
                if (take('[')) {
                    List<Object> array = new ArrayList<Object>();
                    while (!take(']')) { if (!array.isEmpty()) require(','); array.add(value(depth + 1)); }
                    return array;
                }
                if (take('"')) return string();
                int start = index;
                while (index < text.length() && ",]} \t\r\n".indexOf(text.charAt(index)) < 0) index++;
                String word = text.substring(start, index);
                if (word.matches("true|false|null")) return word.equals("null") ? null : word.equals("true");
                Double number = Double.valueOf(word.matches("[-+.0-9eE]+") ? word : "");
                return number.isInfinite() ? null : number;
            }

            String string() {
                StringBuilder result = new StringBuilder();
                for (char next; (next = text.charAt(index++)) != '"'; ) {
                    if (next == '\\') {
                        next = text.charAt(index++);
                        int position = "bfnrt".indexOf(next);
                        if (position >= 0) next = "\b\f\n\r\t".charAt(position);
                        else if (next == 'u') next = (char) Integer.parseInt(text.substring(index, index += 4), 16);
                    }
                    result.append(next);
                }
                return result.toString();
            }
        }
    }
}
