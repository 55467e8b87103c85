/// All stores of a database as one event loop sees them; used only on that loop's thread.
public protocol LoopStore: AnyObject, AppStore, ApplePostbackStore, AuditStore, CheckStore, ClickStore,
    EventStore, ExportStore, LearningStore, LinkStore, PostbackStore, PrivacyStore, SessionStore, StatsStore
{
    /// Starts a turn (one pass of the loop) with requests from this number of connections.
    func beginTurn(with connectionCount: Int)
    /// Ends a turn of the loop, and with it the open snapshot, so that an idle loop does not pin a write-ahead log.
    func endTurn()
}
