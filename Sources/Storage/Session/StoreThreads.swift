public import Attribution
internal import Threads

/// Starts and stops the threads of an open store.
public final class StoreThreads<Backend: StorageBackend>: Sendable {
    let state: StoreState
    let backend: Backend
    /// The background reader; nil if the store has no background threads.
    let reader: BackgroundReader<Backend>?
    /// The requests to the thread of ``startPoll(_:)``; the only one is the request to stop.
    private let pollRequests = JobRequests()
    private let hasWriterEnded = ConditionLock(false)
    private let threads = ConditionLock<[JoinableThread]>([])

    public init(_ state: StoreState, _ backend: Backend) {
        (self.state, self.backend) = (state, backend)
        let hasReader = state.configuration.hasBackgroundWork && !state.configuration.isReadOnly
        reader = hasReader ? BackgroundReader(backend) : nil
    }

    /// Starts the writing thread and the thread that watches deadlines.
    ///
    /// - Parameter makeEngine: called once, on the writing thread.
    /// - Throws: if the system refuses a thread.
    public func startWriter<Engine: BlockingEngine>(_ makeEngine: @escaping @Sendable () -> Engine)
        throws(StoreError)
    {
        try start { [self] in
            WriterThread(makeEngine(), state).run()
            hasWriterEnded.withLock { $0 = true }
            hasWriterEnded.broadcast()
        }
        try start { [state] in state.watchDeadlines() }
    }

    private func startInBackground(_ run: @escaping @Sendable () -> Void) throws(StoreError) {
        state.beginBackgroundThread()
        try start { [state] in
            run()
            state.endBackgroundThread()
        }
    }

    private func start(_ run: @escaping @Sendable () -> Void) throws(StoreError) {
        do throws(ThreadStartError) {
            let thread = try JoinableThread(run: run)
            threads.withLock { $0.append(thread) }
        } catch {
            let code = error.systemError
            throw StoreError(.resources, "the system refused a thread for the database (error \(code))")
        }
    }

    /// Does the waiting writes and ends the threads; blocks the calling thread.
    ///
    /// - Parameter milliseconds: after this time, writes that still wait are refused.
    public func stop(within milliseconds: UInt64) {
        let deadline = MonotonicTime.now().nanoseconds + milliseconds * 1_000_000
        reader?.stop()
        pollRequests.stop()
        state.beginStopping()
        let hasWritten = hasWriterEnded.wait(until: deadline) { $0 ? true : nil } ?? false
        if !hasWritten {
            // The disk does not respond: the waiting callers are refused, and the writing thread is abandoned.
            _ = state.queue.refuseAll(StoreError(.stopping, "the server is stopping"))
            state.expireWaiting()
        }
        // A job or a long read that waits for a database server is abandoned too.
        let isDone = hasWritten && state.awaitBackgroundThreads(until: deadline)
        state.endDeadlines()
        let threads = threads.withLock { threads in
            defer { threads = [] }
            return threads
        }
        if isDone { for thread in threads { thread.join() } }
    }
}

extension StoreThreads where Backend.Reader: ReportReader {
    /// Starts the thread of jobs and the background reader, if the store has background threads.
    ///
    /// When the store stops, SQLite's writing thread closes its connection only after these two threads have ended.
    ///
    /// - Parameter makeOwnJobs: called on the thread of jobs with the context that its jobs share; creates the jobs that
    ///   only this kind of database has.
    /// - Throws: if the system refuses a thread.
    public func startBackground(
        _ makeOwnJobs: @escaping @Sendable (JobContext<Backend.Reader>) -> [any Job]
    ) throws(StoreError) {
        guard let reader else { return }
        // The job that builds the filter is requested at once, because checks read the database until the
        // filter exists.
        state.jobs.ask(for: .filter)
        try startInBackground { [self] in
            let context = makeJobContext()
            let jobs = makeOwnJobs(context) + makeJobs(context)
            var thread = JobThread(jobs, state.jobs, failures: state.failures)
            thread.run()
        }
        try startInBackground { reader.run() }
    }

    /// Starts a thread for one job whose slices must never wait for another job; does nothing if the store has no
    /// background threads.
    ///
    /// - Parameter makeJob: called on the thread.
    /// - Throws: if the system refuses a thread.
    public func startPoll(_ makeJob: @escaping @Sendable () -> any Job) throws(StoreError) {
        guard reader != nil else { return }
        try startInBackground { [self] in
            var thread = JobThread([makeJob()], pollRequests, failures: state.failures)
            thread.run()
        }
    }

    /// Creates the jobs that this kind of database needs.
    private func makeJobs(_ context: JobContext<Backend.Reader>) -> [any Job] {
        let postbacks = state.configuration.postbacks.map { [PostbackJob(context, $0)] } ?? []
        let jobs: [any Job] =
            postbacks + [
                FilterJob(makeScanContext()),
                SummaryJob(context),
                RetentionJob(context),
                AuditJob(context),
                ApplePostbackJob(context),
                CompactionJob(context),
                LearningJob(context),
                DriftJob(context),
                FadingJob(context),
                CollisionJob(context),
                PolicyGridJob(context),
            ]
        let needed = Backend.Rules.jobs
        return jobs.filter { needed.contains($0.name) }
    }

    /// Creates the context of jobs that run on the calling thread.
    public func makeJobContext() -> JobContext<Backend.Reader> { JobContext(state, open: backend.openReader) }

    /// Creates the context of a job that reads everything once.
    public func makeScanContext() -> JobContext<Backend.Reader> {
        JobContext(state, open: backend.openScanner)
    }
}
