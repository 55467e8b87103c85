internal import HTTPServer

extension Request {
    /// The value of a field that may have one line; nil where it was not sent.
    ///
    /// Source: RFC 9110 §5.3, which forbids several lines of a field that is not a list.
    ///
    /// - Throws: 400 for several lines: none is better than another, and it is unknown which one a proxy read.
    func onlyField(_ name: String) throws(APIError) -> String? {
        guard let value = field(name) else { return nil }
        guard withOnlyFieldBytes(name, { _ in true }) == true else {
            throw .invalidField(name, "was sent more than once; send one line of it")
        }
        return value
    }
}
