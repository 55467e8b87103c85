#if PostgreSQL
internal import Attribution
internal import PostgreSQL
internal import Storage
internal import Threads

/// An event loop's session on PostgreSQL, which waits for answers without blocking the loop.
final class PostgreSQLSession: DatabaseSession, LoopSession {
    let loop: LoopState<PostgreSQLBackend>
    private let questions: TurnQuestions
    private let connection: PostgreSQLConnection

    /// Starts to connect; without a port, each read waits on the calling thread.
    init(
        _ threads: StoreThreads<PostgreSQLBackend>,
        _ directory: DirectoryCache,
        _ slots: SlotTable,
        _ configuration: PostgreSQLConfiguration,
        port: LoopPort?
    ) {
        let clock = configuration.store.clock
        let own = PollingPort()
        let polling = port == nil ? own : nil
        let port = port ?? own.port
        let connection = PostgreSQLConnection(
            configuration.settings.forLoop(onCitus: configuration.shards.isCitus),
            port: port
        )
        let questions = TurnQuestions(
            connection,
            port: port,
            slots: slots,
            shards: configuration.shards,
            hotSlots: { slots.hot(at: clock.now()) }
        )
        polling?.turnDidEnd = { [weak questions] in questions?.endTurn() }
        (self.connection, self.questions) = (connection, questions)
        loop = LoopState(threads, directory) { () throws(PostgreSQLError) in
            PostgreSQLLoopReader(questions: questions, polling: polling)
        }
        connection.start()
    }

    deinit { connection.close() }

    func endTurn() {
        loop.endTurn()
        questions.endTurn()
    }
}

/// The database of an open store.
struct PostgreSQLBackend: StorageBackend {
    typealias Reader = PostgreSQLReader
    typealias Loop = PostgreSQLLoopReader
    typealias Rules = PostgreSQLRules

    let opening: DatabaseOpening

    func openReader() throws(PostgreSQLError) -> PostgreSQLReader {
        PostgreSQLReader(connection: try opening.connect())
    }

    func openReportReader() throws(PostgreSQLError) -> PostgreSQLReader {
        PostgreSQLReader(connection: try opening.connect(.request))
    }

    func openScanner() throws(PostgreSQLError) -> PostgreSQLReader { try openReader() }

    var logByteCount: Int64 { 0 }
}
#endif
