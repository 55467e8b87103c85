internal import Attribution

extension Setting {
    /// Environment variables that look like settings and are none, each with what was probably meant.
    ///
    /// A hint and no error: Kubernetes gives every container variables named after the services beside it, so
    /// that a service called `afterlink` brings `AFTERLINK_PORT=tcp://…` and `AFTERLINK_SERVICE_HOST`.
    package static func unknownVariables(in environment: [String: String]) -> [String] {
        let known = all.map(\.environmentVariable) + ["AFTERLINK_CONFIG"]
        let strange = environment.keys.filter { name in
            name.hasPrefix(environmentPrefix) && !known.contains(name)
                && !name.hasPrefix("AFTERLINK_SERVICE_") && !name.hasPrefix("AFTERLINK_PORT")
        }
        return strange.sorted().map { name in
            let near = Suggestion.nearest(to: name, among: known.map { $0.lowercased() })
            return "\(name) is no setting and has no effect"
                + (near.map { "; did you mean \($0.uppercased())?" } ?? "")
        }
    }
}
