internal import Attribution
import Glibc

/// A file beside the one that it will be: it gets its name when it is whole and on disk, and is deleted otherwise.
///
/// What a killed process leaves behind is called `….afterlink-partial`, so that nobody takes it for whole or gives a
/// file of his own that name, and is overwritten by the next one.
final class DatabaseDraft {
    let target: DatabaseFile
    /// Closed by `deinit`; its lock keeps others from the draft until then.
    private let descriptor: Int32
    private var isPublished = false

    var path: String { Self.path(of: target) }

    /// Makes the file, empty.
    ///
    /// - Parameters:
    ///   - target: the name that it will get.
    ///   - source: what will be copied, which must not be overwritten.
    /// - Throws: `conflict` or `locked` when its name is taken for the time of the copy.
    init(of target: DatabaseFile, from source: DatabaseFile) throws(StoreError) {
        self.target = target
        let name = Self.path(of: target)
        try DatabaseFile.refuseUnlessRegular(name)
        guard !DatabaseFile.isSameFile(name, source.path), DatabaseUse.holder(of: name) == nil else {
            throw StoreError(.conflict, "\(name) is a database in use, and the copy's name while it is made")
        }
        // The path outlives the call.
        descriptor = unsafe open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw DatabaseFile.failure("creating", name) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0, DatabaseDraft.leads(name, to: descriptor) else {
            // Not ours to delete.
            isPublished = true
            throw StoreError(.locked, "another process is writing \(name) at this moment; wait for it")
        }
        guard ftruncate(descriptor, 0) == 0, fchmod(descriptor, 0o600) == 0 else {
            throw DatabaseFile.failure("emptying", name)
        }
        giveToOwnerOfFolder()
    }

    private static func path(of target: DatabaseFile) -> String {
        target.path + ".afterlink-partial"
    }

    deinit {
        // The path outlives the call.
        if !isPublished { _ = unsafe unlink(path) }
        close(descriptor)
    }

    /// Returns when what was written is on disk.
    func sync() throws(StoreError) {
        guard fsync(descriptor) == 0 else { throw DatabaseFile.failure("syncing", path) }
    }

    /// Gives the file its name, and returns when that is on disk.
    ///
    /// - Throws: `conflict` when the name is taken and may not be.
    func publish(mayReplace: Bool) throws(StoreError) {
        try sync()
        if mayReplace {
            try DatabaseFile.rename(path, to: target.path)
        } else {
            guard try DatabaseFile.link(path, as: target.path) else {
                throw StoreError(.conflict, "\(target.path) exists")
            }
            try DatabaseFile.remove(path)
        }
        isPublished = true
        try target.sync(target.path)
    }

    /// Whether the name still is that of the open file: its last writer may have published it meanwhile.
    private static func leads(_ name: String, to descriptor: Int32) -> Bool {
        var (named, opened) = (stat(), stat())
        // Both values outlive the calls.
        guard unsafe lstat(name, &named) == 0, unsafe fstat(descriptor, &opened) == 0 else { return false }
        return named.st_ino == opened.st_ino && named.st_dev == opened.st_dev
    }

    /// What root copies into a service's folder is for the service, which runs as somebody else.
    private func giveToOwnerOfFolder() {
        var status = stat()
        // The value outlives the call.
        guard geteuid() == 0, unsafe stat(target.folder, &status) == 0 else { return }
        _ = fchown(descriptor, status.st_uid, status.st_gid)
    }
}
