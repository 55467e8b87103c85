internal import Attribution

/// The keys that the demo plays with.
struct DemoKeys {
    let app: String
    let admin: String

    init?(_ firstApp: FirstApp?) {
        let texts = Dictionary(firstApp?.madeKeys.map { ($0.kind, $0.text.text) } ?? []) { first, _ in first }
        guard let app = texts[.app], let admin = texts[.admin] else { return nil }
        self.app = app
        self.admin = admin
    }
}
