public import Attribution

/// The reads of clicks and claims that both checks and the writing thread make.
public protocol ClickReader {
    associatedtype Failure: Error

    /// Returns the click with this number; nil if there is none.
    func click(numbered number: Int64) throws(Failure) -> ClickRecord?
    /// Returns the identifier of the link with this number; nil if there is none.
    func linkID(numbered number: Int64) throws(Failure) -> LinkID?
    /// Returns the claim of the click with this number; nil if there is none.
    func claim(ofClick number: Int64) throws(Failure) -> ClaimRecord?
    /// Returns the time at which the click with this number was claimed; nil while it is not.
    func claimTime(ofClick number: Int64) throws(Failure) -> Timestamp?
    /// Returns an installation's newest claim of a click whose window has not ended.
    func claim(ofInstall hash: KeyedHash, in scope: Scope, at now: Timestamp) throws(Failure) -> ClaimRecord?
}

/// Reads the numbers by which the database knows apps and clicks.
public protocol NumberReader {
    associatedtype Failure: Error

    /// Returns the number by which the database knows an app; nil for an app that does not exist.
    func number(of app: AppID) throws(Failure) -> Int64?
    /// Returns the number of the newest click (the first half of its identifier); 0 without clicks.
    func newestClick() throws(Failure) -> Int64
}

extension ClickReader {
    /// Returns the record's click with the link that was tapped; a click without a link needs no query.
    func click(_ record: ClickRecord, of app: AppID) throws(Failure) -> Click {
        guard let link = record.link else { return record.click(of: app, link: nil) }
        return record.click(of: app, link: try linkID(numbered: link))
    }

    /// Returns the answer that the launch of a claim got; nil if the click was deleted.
    func answer(of record: ClaimRecord, to app: AppID) throws(Failure) -> Claim? {
        guard let click = try click(numbered: record.click) else { return nil }
        return record.claim(of: try self.click(click, of: app))
    }

    /// Returns an installation's claim of a click whose window has not ended; nil if there is none.
    ///
    /// `hashes` has the hash of the installation under each server key; the first hash with such a claim counts.
    func claim(ofInstalls hashes: [KeyedHash], in scope: Scope, at now: Timestamp) throws(Failure)
        -> ClaimRecord?
    {
        for hash in hashes {
            if let record = try claim(ofInstall: hash, in: scope, at: now) { return record }
        }
        return nil
    }
}
