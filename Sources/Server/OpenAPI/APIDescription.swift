internal import JSON

/// The description of the API in the form of the OpenAPI Specification, version 3.1.
///
/// A file that is written by hand. Tests compare it with the list of routes, the names that the code reads and
/// writes, and the responses of all other tests.
package enum APIDescription {
    /// The document without blanks and line ends.
    package static let body: [UInt8] = {
        do throws(JSONError) {
            var json = JSONWriter(reservedCapacity: 128 * 1024)
            json.value(try JSONValue(parsing: Array(text.utf8)))
            return json.bytes
        } catch {
            preconditionFailure("the embedded description of the API is no JSON: \(error.message)")
        }
    }()

    /// Computed once, because the description is long and constant.
    static let tag = EntityTag(of: body)

    private static var text: String {
        EmbeddedDescription.files.first { $0.name == "openapi.json" }?.text ?? ""
    }
}
