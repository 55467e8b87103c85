/// Writes answers as HTTP/1.1 messages (RFC 9112 §4, RFC 9110 §6).
package struct ResponseWriter {
    /// How the connection stands that an answer goes to.
    package struct Context {
        /// `nil` for the answer to a rejection.
        var method: Method?
        var version: Version
        var keepsAlive: Bool

        package init(method: Method?, version: Version, keepsAlive: Bool) {
            self.method = method
            self.version = version
            self.keepsAlive = keepsAlive
        }
    }

    /// Names of the field lines that are written here and nowhere else.
    private static let ownNames = [
        "date", "content-length", "content-type", "transfer-encoding", "connection", "x-content-type-options",
    ]

    /// Appends an answer to the bytes to be sent; `date` is the `Date` field line with its line end.
    package static func write(
        _ response: Response,
        to output: inout [UInt8],
        date: [UInt8],
        _ context: Context
    ) {
        writeStatusLine(response.status, to: &output)
        output.append(contentsOf: date)
        let hasContent = response.status.allowsContent
        if hasContent {
            output.append("Content-Length: ")
            output.append(decimal: response.body.count)
            output.append("\r\n")
            if let contentType = response.contentType {
                output.append(fieldLine: "Content-Type", contentType.text)
            }
        }
        output.append("X-Content-Type-Options: nosniff\r\n")
        if !context.keepsAlive {
            output.append("Connection: close\r\n")
        } else if context.version == .http10 {
            output.append("Connection: keep-alive\r\n")
        }
        for field in response.fields { write(field, to: &output) }
        output.append("\r\n")
        if hasContent, context.method != .head { output.append(contentsOf: response.body) }
    }

    static let interimContinue = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)

    private static func writeStatusLine(_ status: Status, to output: inout [UInt8]) {
        guard status != .ok else {
            output.append("HTTP/1.1 200 OK\r\n")
            return
        }
        output.append("HTTP/1.1 ")
        output.append(decimal: status.code)
        output.append(" ")
        output.append(contentsOf: status.reasonPhrase.utf8)
        output.append("\r\n")
    }

    private static func write(_ field: FieldLine, to output: inout [UInt8]) {
        guard isWritable(field) else {
            assertionFailure("a field line of an answer holds bytes that would break the message")
            return
        }
        guard !ownNames.contains(where: { ByteClass.equals($0, field.name) }) else { return }
        output.append(fieldLine: field.name, field.value)
    }

    /// Whether a line can be written without ending early or becoming another one.
    package static func isWritable(_ field: FieldLine) -> Bool {
        !field.name.utf8.isEmpty && field.name.utf8.allSatisfy(ByteClass.isToken)
            && field.value.utf8.allSatisfy(ByteClass.isFieldValue)
    }
}

extension [UInt8] {
    mutating func append(_ text: StaticString) {
        // A literal's bytes live as long as the process, and append copies them.
        unsafe append(
            contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
        )
    }

    mutating func append(fieldLine name: String, _ value: String) {
        append(contentsOf: name.utf8)
        append(": ")
        append(contentsOf: value.utf8)
        append("\r\n")
    }

    mutating func append(decimal number: Int) {
        var divisor = 1
        while number / divisor >= 10 { divisor *= 10 }
        while divisor > 0 {
            append(UInt8(ascii: "0") + UInt8(number / divisor % 10))
            divisor /= 10
        }
    }
}
