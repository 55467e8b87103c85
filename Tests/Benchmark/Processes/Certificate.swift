import Foundation
import Support

/// A certificate that both servers show, in files.
struct Certificate {
    let certificatePath: String
    let keyPath: String

    init(in folder: String) throws {
        certificatePath = folder + "/certificate.pem"
        keyPath = folder + "/certificate.key"
        let made = try TestCertificate()
        try Data(made.certificate).write(to: URL(fileURLWithPath: certificatePath))
        try Data(made.key).write(to: URL(fileURLWithPath: keyPath))
        // The server refuses a key that others may read.
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: keyPath)
    }
}
