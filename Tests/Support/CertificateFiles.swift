public import Foundation

/// A certificate and its key as files, which can be replaced as in a renewal.
public struct CertificateFiles: Sendable {
    public let certificate: String
    public let key: String

    /// Writes a new certificate with this common name into a folder; the caller deletes the folder.
    public init(in folder: URL, _ name: String = "localhost") throws {
        certificate = folder.appending(path: "chain.pem").path
        key = folder.appending(path: "key.pem").path
        try replace(with: TestCertificate(name))
    }

    public var arguments: [String] { ["--tls-certificate", certificate, "--tls-key", key] }

    public func replace(with new: TestCertificate) throws {
        try write(new.certificate, to: certificate)
        try write(new.key, to: key)
    }

    /// Writes a file, which by default only its owner may read, because the server refuses a key that others may read.
    public func write(_ bytes: [UInt8], to path: String, mode: Int = 0o600) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: path), options: .atomic)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }
}
