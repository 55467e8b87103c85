internal import Glibc

/// Writes responses as HTTP/1.1 messages (RFC 9112 §4, RFC 9110 §6).
package struct ResponseWriter {
    /// The request and the state of the connection, as far as the response depends on them.
    package struct Context {
        /// `nil` if the server rejected the request before it knew the method.
        var method: Method?
        var version: Version
        package var keepsAlive: Bool

        package init(method: Method?, version: Version, keepsAlive: Bool) {
            self.method = method
            self.version = version
            self.keepsAlive = keepsAlive
        }
    }

    /// Appends a response to the bytes to send; `date` is the text of ``DateField/current()``.
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
            if response.stream == nil {
                output.append("Content-Length: ")
                output.append(decimal: UInt64(response.body.count))
                output.append("\r\n")
            } else if context.version == .http11 {
                output.append("Transfer-Encoding: chunked\r\n")
            }
            if let contentType = response.contentType {
                output.append("Content-Type: ")
                output.append(contentType.text)
                output.append("\r\n")
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
        if hasContent, context.method != .head, response.stream == nil {
            output.append(contentsOf: response.body)
        }
    }

    /// Returns a piece of a stream as it is sent: as a chunk in HTTP/1.1, as it is in HTTP/1.0 (RFC 9112 §7.1).
    static func chunk(_ piece: [UInt8], _ version: Version) -> [UInt8] {
        guard version == .http11 else { return piece }
        return Array((String(piece.count, radix: 16) + "\r\n").utf8) + piece + [13, 10]
    }

    /// The chunk that ends a whole stream.
    static let lastChunk = Array("0\r\n\r\n".utf8)

    static let interimContinue = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)

    private static func writeStatusLine(_ status: Status, to output: inout [UInt8]) {
        guard status != .ok else {
            output.append("HTTP/1.1 200 OK\r\n")
            return
        }
        output.append("HTTP/1.1 ")
        output.append(decimal: UInt64(max(0, status.code)))
        output.append(" ")
        output.append(status.reasonPhrase)
        output.append("\r\n")
    }

    private static func write(_ field: FieldLine, to output: inout [UInt8]) {
        guard isWritable(field) else {
            assertionFailure("a field line of a response contains bytes that would break the message")
            return
        }
        guard !isReserved(field.name) else { return }
        output.append(field)
    }

    /// Returns whether the bytes of a line can neither end the line early nor start another one.
    package static func isWritable(_ field: FieldLine) -> Bool {
        let name = field.name.utf8.span
        for index in name.indices where !ByteClass.isToken(name[index]) { return false }
        let value = field.value.utf8.span
        return !name.isEmpty && ByteClass.runOfFieldValue(in: value, from: 0) == value.count
    }

    /// Returns whether the writer leaves out field lines of this name from a response's `fields`.
    ///
    /// It compares the length first, which excludes most names.
    private static func isReserved(_ name: String) -> Bool {
        switch name.utf8.count {
        case 4: ByteClass.equals("date", name)
        case 10: ByteClass.equals("connection", name)
        case 12: ByteClass.equals("content-type", name)
        case 14: ByteClass.equals("content-length", name)
        case 17: ByteClass.equals("transfer-encoding", name)
        case 22: ByteClass.equals("x-content-type-options", name)
        default: false
        }
    }
}

extension [UInt8] {
    /// Appends the line with its line end.
    mutating func append(_ field: FieldLine) {
        append(field.name)
        append(UInt8(ascii: ":"))
        append(UInt8(ascii: " "))
        append(field.value)
        append(UInt8(ascii: "\r"))
        append(UInt8(ascii: "\n"))
    }
}

/// The `Date` field line (RFC 9110 §6.6.1), which changes once a second, and constant field lines after it.
package struct DateField {
    private var second: Int64 = .min
    private var line: [UInt8] = []
    /// The constant field lines, with their line ends.
    private let constantLines: String

    init(followedBy constantLines: String = "") { self.constantLines = constantLines }

    /// Returns the current `Date` line and the constant lines, with their line ends.
    mutating func current() -> [UInt8] {
        var reading = timespec()
        // The kernel fills the local value and keeps no pointer to it.
        unsafe clock_gettime(CLOCK_REALTIME_COARSE, &reading)
        if Int64(reading.tv_sec) != second {
            second = Int64(reading.tv_sec)
            line = Array("Date: \(Self.text(second))\r\n\(constantLines)".utf8)
        }
        return line
    }

    private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Returns a time in the form `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 §5.6.7).
    ///
    /// The time is in seconds since 1970; an earlier time gives the start of 1970.
    package static func text(_ seconds: Int64) -> String {
        let seconds = max(0, seconds)
        let day = seconds / 86_400
        let time = seconds % 86_400
        let date = civil(day)
        return days[Int(day % 7)] + ", " + twoDigits(date.day) + " " + months[date.month - 1] + " "
            + String(date.year) + " " + twoDigits(time / 3_600) + ":" + twoDigits(time / 60 % 60) + ":"
            + twoDigits(time % 60) + " GMT"
    }

    private static func twoDigits(_ number: some BinaryInteger) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }

    /// Returns the Gregorian date of a day, which is a number of days since 1 January 1970.
    ///
    /// It computes with years that start in March, so that the leap day is the last day of a year, and with eras of 400
    /// years.
    private static func civil(_ day: Int64) -> (year: Int64, month: Int, day: Int64) {
        let shifted = day + 719_468
        let era = shifted / 146_097
        let dayOfEra = shifted % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = Int(monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9)
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
    }
}

/// Appends texts and numbers to bytes, for responses and log lines.
extension [UInt8] {
    /// Appends a text in UTF-8.
    package mutating func append(_ text: String) {
        // The text's bytes are valid during the call, which copies them.
        unsafe text.utf8.span.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
    }

    /// Appends a number in decimal digits.
    ///
    /// It starts with the last digit, so that it divides only by ten, which the compiler turns into a multiplication.
    package mutating func append(decimal number: UInt64) {
        var digits = [20 of UInt8](repeating: 0)
        var start = digits.count
        var rest = number
        repeat {
            start -= 1
            digits[start] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        } while rest > 0
        append(addingCapacity: digits.count - start) { free in
            for index in start..<digits.count { free.append(digits[index]) }
        }
    }
}
