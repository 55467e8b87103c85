internal import Attribution
internal import JSON

/// The structure of Google's domain file.
extension DomainFileReader {
    mutating func assetLinks(_ value: JSONValue) -> AssetLinks? {
        guard let values = array(value, at: "") else { return nil }
        var file = AssetLinks()
        for (index, value) in values.enumerated() {
            let place = "[\(index)]"
            guard let object = object(value, at: place) else { continue }
            if let include = object["include"] {
                readInclude(include, of: object, at: place, into: &file)
            } else if let statement = statement(object, at: place) {
                file.statements.append(statement)
            }
        }
        return file
    }

    private mutating func readInclude(
        _ value: JSONValue,
        of object: JSONObject,
        at place: String,
        into file: inout AssetLinks
    ) {
        noteUnknown(in: object, at: place, known: ["include"])
        guard let address = text(value, at: "\(place).include") else { return }
        if (try? WebURL(parsing: address)) == nil {
            note(
                .includeForm,
                at: "\(place).include",
                "\"\(address)\" is no https address",
                "Write the whole address of the other file, beginning with https://"
            )
        }
        file.includes.append(address)
    }

    private mutating func statement(_ object: JSONObject, at place: String) -> AssetLinks.Statement? {
        noteUnknown(in: object, at: place, known: ["relation", "target", "relation_extensions"])
        guard let relations = texts(object["relation"], at: "\(place).relation"), !relations.isEmpty else {
            note(
                .relationForm,
                at: place,
                "The statement names no relation",
                "Write \"relation\": [\"\(AssetLinks.handlesURLs)\"]"
            )
            return nil
        }
        guard let value = object["target"] else {
            note(
                .namespace,
                at: place,
                "The statement has no target",
                "Name the app or the site under \"target\""
            )
            return nil
        }
        guard let targetObject = self.object(value, at: "\(place).target"),
            let target = target(targetObject, at: "\(place).target")
        else { return nil }
        let components = object["relation_extensions"].flatMap {
            extensionComponents($0, relations, at: "\(place).relation_extensions")
        }
        return AssetLinks.Statement(
            relations: relations,
            target: target,
            components: components,
            place: place
        )
    }

    private mutating func target(_ object: JSONObject, at place: String) -> AssetLinks.Target? {
        switch object["namespace"]?.string {
        case "android_app":
            noteUnknown(
                in: object,
                at: place,
                known: ["namespace", "package_name", "sha256_cert_fingerprints"]
            )
            guard let package = text(object["package_name"], at: "\(place).package_name") else {
                note(.packageForm, at: place, "The app has no package_name", "Write its application id")
                return nil
            }
            return .app(package: package, fingerprints: fingerprints(of: object, at: place))
        case "web":
            noteUnknown(in: object, at: place, known: ["namespace", "site"])
            guard let site = text(object["site"], at: "\(place).site") else {
                note(
                    .siteForm,
                    at: place,
                    "The website has no site",
                    "Write \"site\": \"https://example.com\""
                )
                return nil
            }
            return .site(site)
        default:
            note(
                .namespace,
                at: "\(place).namespace",
                "The target's namespace is neither android_app nor web",
                "Write \"namespace\": \"android_app\""
            )
            return nil
        }
    }

    private mutating func fingerprints(of object: JSONObject, at place: String) -> [String] {
        let place = "\(place).sha256_cert_fingerprints"
        let all = texts(object["sha256_cert_fingerprints"], at: place) ?? []
        if all.isEmpty {
            note(
                .noFingerprints,
                at: place,
                "The app has no fingerprint of a certificate, so that none is it",
                "Write the SHA-256 that the Play Console shows under Setup, App signing"
            )
        }
        return all
    }

    private mutating func extensionComponents(
        _ value: JSONValue,
        _ relations: [String],
        at place: String
    ) -> [AssociationComponent]? {
        guard let extensions = object(value, at: place) else { return nil }
        var components: [AssociationComponent]?
        for member in extensions.members {
            let path = "\(place)[\"\(member.name)\"]"
            guard relations.contains(member.name) else {
                note(
                    .extensionForm,
                    at: path,
                    "The extension is for a relation that the statement does not have",
                    "Add the relation, or remove the extension"
                )
                continue
            }
            guard member.name == AssetLinks.handlesURLs, let object = object(member.value, at: path) else {
                continue
            }
            noteUnknown(in: object, at: path, known: ["dynamic_app_link_components"])
            components = self.components(
                object["dynamic_app_link_components"],
                at: "\(path).dynamic_app_link_components",
                comment: "comments",
                isGoogle: true
            )
        }
        return components
    }
}
