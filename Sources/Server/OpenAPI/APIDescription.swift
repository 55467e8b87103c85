internal import JSON

/// The description of the API in the form of the OpenAPI Specification, version 3.1.
///
/// A file that is written by hand and that tests hold against the list of routes, the names that the code reads and
/// writes, and the answers of all other tests.
package enum APIDescription {
    /// Without what only its readers need: blanks, and ends of lines.
    package static let body: [UInt8] = {
        do throws(JSONError) {
            var json = JSONWriter(reservedCapacity: 128 * 1024)
            json.value(try JSONValue(parsing: Array(text.utf8)))
            return json.bytes
        } catch {
            preconditionFailure("the embedded description of the API is no JSON: \(error.message)")
        }
    }()

    /// Made once: the description is long, and always the same.
    static let tag = EntityTag(of: body)

    private static var text: String {
        EmbeddedDescription.files.first { $0.name == "openapi.json" }?.text ?? ""
    }
}
