/// Which settings are not their default, and where they come from.
enum SettingsExamination {
    static func diagnoses(_ origins: [ConfigurationReader.Origin], _ environment: [String: String])
        -> [Diagnosis]
    {
        var diagnoses = origins.map { origin in
            let value = origin.setting.isSecret ? "set (not shown)" : origin.texts.joined(separator: ", ")
            let shown = value.isEmpty ? "on" : value
            return Diagnosis.ok("settings", "\(origin.setting.name) is \(shown), from \(origin.place)")
        }
        diagnoses.append(
            .ok("settings", "all others have their defaults; `afterlink help settings` lists them")
        )
        for hint in Setting.unknownVariables(in: environment) {
            diagnoses.append(.warning("settings", hint, "correct or remove it"))
        }
        return diagnoses
    }
}
