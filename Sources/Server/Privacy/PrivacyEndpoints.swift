public import Attribution
internal import HTTPServer
public import JSON

/// The admin API's calls on what is stored about a person.
///
/// They are POSTs, because proxies log addresses and ids in paths and queries.
enum PrivacyEndpoints {
    /// `POST /admin/api/held`: returns what is stored about a click, fingerprint, installation, user or address.
    static func held(_ exchange: inout Exchange) async throws(APIError) -> Response {
        let body = try JSONBody(ofAdmin: exchange.request, with: members)
        let subject = try subject(of: body.members, &exchange)
        let held = try await exchange.store(await exchange.stores.privacy.held(subject))
        return Response(.ok, json: PrivacyBody.json(held, of: subject))
    }

    /// `POST /admin/api/erase`: deletes what ``held(_:)`` returns, or with `dry_run` counts it.
    static func erase(_ exchange: inout Exchange) async throws(APIError) -> Response {
        let body = try JSONBody(ofAdmin: exchange.request, with: members)
        let isDryRun = try body.flag("dry_run") ?? false
        let subject = try subject(of: body.members, &exchange)
        guard !isDryRun else {
            let held = try await exchange.store(await exchange.stores.privacy.held(subject))
            return Response(.ok, json: PrivacyBody.json(dryRun: held, of: subject))
        }
        return Response(.ok, json: PrivacyBody.json(try await erase(subject, exchange)))
    }

    /// `POST /v1/erase`: deletes what is stored about an installation of the key's app, whose random id the caller
    /// knows.
    ///
    /// A test key erases test traffic, other keys erase live traffic. The response is the same for an unknown id.
    static func eraseInstall(_ exchange: inout Exchange) async throws(APIError) -> Response {
        guard let key = exchange.key, let app = key.app else { throw .invalidAPIKey }
        let body = try JSONBody(exchange.request)
        try Exchange.require(app, isNamed: body.text("app", 64))
        guard let text = try body.text("install_id", .max) else {
            throw .missingField("install_id", "Send {\"install_id\":\"…\"} with the id that the launch sent")
        }
        let id = try LaunchFields.installID(text, from: "install_id").text
        let subject = try subject(.install, id, of: app, exchange).ofInstall(isTest: key.kind == .test)
        // App keys are public, and the record of an erasure is stored for years, so a request with an unknown id leaves
        // no record.
        let held = try await exchange.store(await exchange.stores.privacy.held(subject))
        if !held.counts.isEmpty { _ = try await erase(subject, exchange) }
        exchange.outcome = "erased"
        return Response(.ok) { $0.member("status", "erased") }
    }

    static func erase(_ subject: DataSubject, _ exchange: Exchange) async throws(APIError) -> Erasure {
        let record = Erasure(
            id: ErasureID(at: exchange.now, random: exchange.service.random),
            at: exchange.now,
            app: subject.app,
            kind: subject.kind,
            actor: exchange.actor
        )
        return try await exchange.store(await exchange.stores.privacy.erase(subject, record))
    }

    private static let members = SubjectKind.allCases.map(\.rawValue) + ["app", "dry_run"]

    /// Reads the app, and the one value that identifies the rows.
    private static func subject(of object: JSONObject, _ exchange: inout Exchange) throws(APIError)
        -> DataSubject
    {
        let kinds = SubjectKind.allCases.map(\.rawValue)
        let app = try LinkEndpoints.app(object["app"], exchange.directory)
        exchange.app = app.id
        let values = SubjectKind.allCases.filter { object[$0.rawValue].map { !$0.isNull } ?? false }
        guard values.count == 1, let kind = values.first else {
            let advice = "Send exactly one of \(kinds.joined(separator: ", "))."
            throw .unprocessable([FieldProblem(values.last?.rawValue ?? kinds[0], advice)])
        }
        return try subject(kind, object[kind.rawValue]?.string ?? "", of: app.id, exchange)
    }

    /// - Throws: 422 for a text that is no value of the kind.
    static func subject(_ kind: SubjectKind, _ text: String, of app: AppID, _ exchange: Exchange)
        throws(APIError) -> DataSubject
    {
        let keys = exchange.keys
        do throws(FieldProblem) {
            let (server, addresses) = (keys.server.all, keys.addresses)
            return try DataSubject(kind, text, of: app, keys: server, addresses: addresses, at: exchange.now)
        } catch { throw .unprocessable([error]) }
    }
}

/// The JSON of what is stored about a person, for the API and for commands.
public enum PrivacyBody {
    public static func json(_ held: HeldData, of subject: DataSubject) -> JSONWriter {
        .object { json in
            json.member("app", subject.app.text)
            json.member("kind", subject.kind.rawValue)
            json.object("counts") { write(held.counts, to: &$0) }
            json.member("complete", held.isComplete)
            for table in ["clicks", "claims", "checks", "attributed_installs", "events"] {
                json.objects(table, held.rows.filter { $0.table == table }) { json, row in
                    json.member("test", row.isTest)
                    for (name, value) in row.fields { write(name, value, to: &json) }
                }
            }
        }
    }

    public static func json(dryRun held: HeldData, of subject: DataSubject) -> JSONWriter {
        .object { json in
            json.member("dry_run", true)
            json.member("app", subject.app.text)
            json.member("kind", subject.kind.rawValue)
            json.object("counts") { write(held.counts, to: &$0) }
            json.member("complete", held.isComplete)
        }
    }

    public static func json(_ erasure: Erasure) -> JSONWriter {
        .object { json in
            json.member("erasure", erasure.id.text)
            json.member("dry_run", false)
            json.member("app", erasure.app.text)
            json.member("kind", erasure.kind.rawValue)
            json.object("counts") { write(erasure.counts, to: &$0) }
            json.member("log_cleared", erasure.isLogCleared)
        }
    }

    private static func write(_ counts: PrivacyCounts, to json: inout JSONWriter) {
        for table in PrivacyCounts.tables { json.member(table.name, counts[keyPath: table.count]) }
    }

    private static func write(_ name: String, _ value: HeldValue, to json: inout JSONWriter) {
        switch value {
        case .none: json.member(name, orNull: nil as String?)
        case .integer(let number): json.member(name, number)
        case .real(let number): json.member(name, number)
        case .text(let text): json.member(name, text)
        case .flag(let flag): json.member(name, flag)
        }
    }
}
