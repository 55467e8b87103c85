import Attribution
import DomainFiles
import HTTPServer
import JSON
import QRCodes
import Server
import Testing

/// Compares the description of the API with the code, to find new calls, fields and codes that are not described.
@Suite("The description of the API")
struct APIDescriptionTests {
    private let api = Described.api

    @Test("the description is OpenAPI 3.1, has the API's version, and gives operations different names")
    func head() {
        #expect(api.root["openapi"].string == "3.1.0")
        #expect(api.root["info"]["version"].string == "1")
        let names = api.calls.compactMap { $0.operation["operationId"]?.string }
        #expect(names.count == api.calls.count)
        #expect(Set(names).count == names.count)
    }

    @Test("the description contains no reference to a missing part, and no part without a reference")
    func references() {
        var used: Set<String> = []
        func walk(_ value: JSONValue) {
            if let reference = value["$ref"].string {
                #expect(!api.resolved(value).isNull, "\(reference)")
                used.insert(reference)
            }
            for member in value.members { walk(member.value) }
            for element in value.array ?? [] { walk(element) }
        }
        walk(api.root)
        for kind in ["parameters", "headers", "responses", "schemas"] {
            for name in api.root["components"][kind].names {
                let reference = "#/components/\(kind)/\(name)"
                #expect(used.contains(reference), "\(reference)")
            }
        }
    }

    @Test("the description has every call of the list of routes, under all its paths, and no other call")
    func routes() {
        let described = api.calls.flatMap { call in call.paths.map { "\(call.method.rawValue) \($0)" } }
        let routes = RouteSummary.all.map { "\($0.method.rawValue) \($0.path)" }
        #expect(Set(described).subtracting(routes).isEmpty)
        #expect(Set(routes).subtracting(described).isEmpty)
        #expect(described.count == routes.count)
    }

    @Test("the description has the keys and the rate limit of each route, and the responses that they cause")
    func access() {
        let kinds = Set(api.root["components"]["securitySchemes"].names)
        #expect(kinds == Set(KeyKind.allCases.map(\.rawValue)))
        for route in RouteSummary.all {
            guard let call = api.call(route.method, route.path) else { continue }
            let name = "\(route.method.rawValue) \(route.path)"
            let security = call.operation["security"]?.array ?? []
            #expect(security.compactMap(\.names.first) == route.keyKinds.map(\.rawValue), "\(name)")
            #expect((security.isEmpty || security.contains { $0.names.isEmpty }) == route.isOpen, "\(name)")
            #expect(call.operation["x-rate-limit"]?.string == route.rateLimitClass?.rawValue, "\(name)")
            let statuses = Set(call.operation["responses"]?.names ?? [])
            #expect(statuses.contains("401") == !route.keyKinds.isEmpty, "\(name)")
            #expect(statuses.contains("403") == !route.keyKinds.isEmpty, "\(name)")
            // The page of a link has no rate limit class, but may draw a QR code, which is limited.
            let isLimited = route.rateLimitClass != nil || route.path == "/{slug}"
            #expect(statuses.contains("429") == isLimited, "\(name)")
            let always = ["400", "408", "413", "414", "417", "431", "500", "503"]
            #expect(statuses.isSuperset(of: always), "\(name)")
            let hasBody = call.operation["requestBody"]?["required"].bool == true
            // The receivers of Apple's postbacks take a body of any media type.
            let isForApple = route.path.contains("/report-attribution")
            #expect(statuses.contains("415") == (hasBody && !isForApple), "\(name)")
        }
    }

    @Test("if a route refuses unknown query parameters, the description has the known ones, and no others")
    func queryParameters() {
        for route in RouteSummary.all {
            guard let names = route.queryNames else {
                #expect(!route.path.hasPrefix("/admin/"), "\(route.path)")
                continue
            }
            let parameters = api.call(route.method, route.path)?.operation["parameters"]?.array ?? []
            let described = parameters.map(api.resolved).filter { $0["in"].string == "query" }
            #expect(described.compactMap(\.["name"].string).sorted() == names.sorted(), "\(route.path)")
        }
    }

    @Test("the description names every error code, and every word that the program has for a value")
    func words() {
        let words: [(schema: String, words: [String])] = [
            ("ErrorCode", APIError.Code.allCases.map(\.rawValue)),
            ("Platform", Platform.allCases.map(\.rawValue)),
            ("AttributionMethod", AttributionMethod.allCases.map(\.rawValue)),
            ("NoMatchReason", NoMatchReason.allCases.map(\.rawValue)),
            ("PlayFinding", PlayFinding.allCases.map(\.rawValue)),
            ("FingerprintForm", FingerprintForm.allCases.map(\.rawValue)),
            ("SignalComponent", SignalComponent.allCases.map(\.rawValue)),
            ("CheckOutcome", CheckOutcome.allCases.map(\.rawValue)),
            ("AddressAgreement", [AddressAgreement.exact, .near, .differs, .missing].map(\.word)),
            ("ClickState", KnownClick.State.allCases.map(\.rawValue)),
            ("QRErrorCorrection", QRErrorCorrection.allCases.map(\.rawValue)),
        ]
        for (name, words) in words {
            #expect(Set(api.schema(name)["enum"].strings) == Set(words), "\(name)")
        }
        let counts = api.schema("NoMatchReasonCounts")
        #expect(counts["properties"].names == NoMatchReason.allCases.map(\.rawValue))
        #expect(counts["required"].strings == counts["properties"].names)
        let app = api.schema("App")["properties"]
        #expect(app["matching"]["enum"].strings == MatchPolicy.Rule.allCases.map(\.rawValue))
        #expect(app["on_ambiguity"]["enum"].strings == MatchPolicy.Ambiguity.allCases.map(\.rawValue))
        let group = api.schema("DriftGroup")["properties"]
        #expect(group["by"]["enum"].strings == DriftSide.allCases.map(\.rawValue))
        #expect(group["status"]["enum"].strings == DriftReading.Status.allCases.map(\.rawValue))
        let copy = api.schema("DomainCopy")["properties"]
        #expect(copy["file"]["enum"].strings == DomainFile.allCases.map(\.rawValue))
        #expect(copy["copy"]["enum"].strings == DomainCopy.Holder.allCases.map(\.rawValue))
    }

    @Test("the description has every field of a link and an app, with its JSON type in requests")
    func fields() {
        expect(LinkField.self, in: "NewLink", besides: ["app", "slug"])
        expect(
            LinkField.self,
            in: "LinkChange",
            besides: [
                "id", "app", "slug", "url", "ending", "clicks", "robots", "matches", "former_variants",
                "created_at",
                "updated_at", "archived_at",
            ]
        )
        expect(
            AppLinkField.self,
            in: "AppChange",
            besides: [
                "id", "created_at", "click_ids", "fingerprint_window", "deterministic_window",
                "conversion_schemas",
            ]
        )
        for name in LinkField.allCases.map(\.rawValue) {
            #expect(!api.schema("Link")["properties"][name].isNull, "\(name)")
        }
        for name in AppLinkField.allCases.map(\.rawValue) {
            #expect(!api.schema("App")["properties"][name].isNull, "\(name)")
        }
        for path in ["/a/qr.svg", "/a/qr.png"] {
            let parameters = api.call(.get, path)?.operation["parameters"]?.array?.map(api.resolved) ?? []
            let items = parameters.filter { $0["in"].string == "query" }.compactMap(\.["name"].string)
            #expect(items.sorted() == QRStyleField.allCases.map(\.rawValue).sorted())
        }
    }

    private func expect<Field: SettingField>(_: Field.Type, in schema: String, besides others: Set<String>) {
        let properties = api.schema(schema)["properties"]
        #expect(Set(properties.names) == others.union(Field.allCases.map(\.rawValue)), "\(schema)")
        for field in Field.allCases {
            let described = properties[field.rawValue]
            let types = Set(described["type"].strings).union(
                (described["oneOf"].array ?? []).map(api.resolved).flatMap { choice in
                    choice["const"].isNull ? [choice["type"].string ?? ""] : ["string"]
                }
            )
            #expect(types == ["null", Self.type(field.kind)], "\(schema).\(field.rawValue)")
        }
    }

    private static func type(_ kind: SettingFieldKind) -> String {
        switch kind {
        case .text: "string"
        case .number: "integer"
        case .flag: "boolean"
        case .object: "object"
        case .list, .variants: "array"
        }
    }

    @Test("the description has examples that match its schemas")
    func examples() {
        let check = SchemaCheck(api: api)
        var count = 0
        func walk(_ value: JSONValue) {
            if let content = value.object, let schema = content["schema"] {
                for example in content["examples"]?.members ?? [] {
                    count += 1
                    #expect(check.violations(example.value["value"], schema) == [], "\(example.name)")
                }
            }
            if value["type"].isNull == false, let example = value.object?["example"] {
                count += 1
                #expect(check.violations(example, value) == [])
            }
            for member in value.members { walk(member.value) }
            for element in value.array ?? [] { walk(element) }
        }
        walk(api.root)
        #expect(count >= 12)
        for call in api.calls where call.paths[0].hasPrefix("/v1/deferred-deeplink") {
            let answers = call.operation["responses"]?.members.filter { $0.name.hasPrefix("2") } ?? []
            #expect(answers.contains { !$0.value["content"]["application/json"]["examples"].isNull })
        }
    }

    @Test("the description is served without a key, to every origin, and not again to a client that has it")
    func serves() async throws {
        let service = try await TestService()
        let answer = await service.send(.get, "/openapi.json")
        let fields = ["Cache-Control: public, max-age=3600", "Access-Control-Allow-Origin: *"]
        answer.expect(200, holds: fields + ["Content-Type: application/json"])
        #expect(answer.body == APIDescription.body)
        let tag = try #require(answer.field("etag"))
        let again = await service.send(.get, "/openapi.json", fields: ["If-None-Match": "W/\(tag)"])
        #expect(again.status == 304 && again.body.isEmpty && again.field("etag") == tag)
    }

    @Test("the check of responses finds a status, a member, a type and a field that are not described")
    func finds() {
        func violations(_ status: Int, _ body: String, _ fields: String) -> [String] {
            let answer = Answer(status: status, body: Array(body.utf8), fieldLines: fields)
            return DescribedAnswers.violations(answer, .get, "/healthz")
        }
        let fields = "Content-Type: application/json\nX-Request-ID: a\nCache-Control: no-store"
        #expect(violations(200, #"{"status":"ok"}"#, fields) == [])
        #expect(violations(202, #"{"status":"ok"}"#, fields) == ["the status 202"])
        #expect(violations(200, #"{"status":"ok","more":1}"#, fields) == [".more is not described"])
        #expect(violations(200, #"{"status":"so so"}"#, fields) == [".status is not the described constant"])
        #expect(violations(200, "{}", fields) == [".status is missing"])
        let xml = violations(200, "<p>", fields.replacing("json", with: "xml"))
        #expect(xml == ["the type application/xml with the status 200"])
        let fewer = "Content-Type: application/json\nX-Request-ID: a"
        let lacking = violations(200, #"{"status":"ok"}"#, fewer)
        #expect(lacking == ["200 without the field Cache-Control"])
    }
}
