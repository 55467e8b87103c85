internal import Attribution
internal import JSON

/// Reads the structure of Google's domain file.
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
        addUnknown(in: object, at: place, known: ["include"])
        guard let address = text(value, at: "\(place).include") else { return }
        if (try? WebURL(parsing: address)) == nil { add(.includeForm, at: "\(place).include", address) }
        file.includes.append(address)
    }

    private mutating func statement(_ object: JSONObject, at place: String) -> AssetLinks.Statement? {
        addUnknown(in: object, at: place, known: ["relation", "target", "relation_extensions"])
        guard let relations = texts(object["relation"], at: "\(place).relation"), !relations.isEmpty
        else { return fail(.noRelation, at: place) }
        guard let value = object["target"] else { return fail(.noTarget, at: place) }
        guard let targetObject = self.object(value, at: "\(place).target"),
            let target = target(targetObject, at: "\(place).target")
        else { return nil }
        let (extensions, path) = (object["relation_extensions"], "\(place).relation_extensions")
        let components = extensionComponents(extensions, relations, at: path)
        return .init(relations: relations, target: target, components: components, place: place)
    }

    private mutating func target(_ object: JSONObject, at place: String) -> AssetLinks.Target? {
        switch object["namespace"]?.string {
        case "android_app":
            let members = ["namespace", "package_name", "sha256_cert_fingerprints"]
            addUnknown(in: object, at: place, known: members)
            guard let package = text(object["package_name"], at: "\(place).package_name")
            else { return fail(.noPackage, at: place) }
            return .app(package: package, fingerprints: fingerprints(of: object, at: place))
        case "web":
            addUnknown(in: object, at: place, known: ["namespace", "site"])
            guard let site = text(object["site"], at: "\(place).site")
            else { return fail(.noSite, at: place) }
            return .site(site)
        default: return fail(.unknownNamespace, at: "\(place).namespace")
        }
    }

    private mutating func fingerprints(of object: JSONObject, at place: String) -> [String] {
        let place = "\(place).sha256_cert_fingerprints"
        let all = texts(object["sha256_cert_fingerprints"], at: place) ?? []
        if all.isEmpty { add(.noFingerprints, at: place) }
        return all
    }

    private mutating func extensionComponents(
        _ value: JSONValue?,
        _ relations: [String],
        at place: String
    ) -> [AssociationComponent]? {
        guard let extensions = object(value, at: place) else { return nil }
        var components: [AssociationComponent]?
        for member in extensions.members {
            let path = "\(place)[\"\(member.name)\"]"
            guard relations.contains(member.name) else {
                add(.extensionForm, at: path)
                continue
            }
            guard member.name == AssetLinks.handlesURLs, let object = object(member.value, at: path)
            else { continue }
            addUnknown(in: object, at: path, known: ["dynamic_app_link_components"])
            let (list, place) = (object["dynamic_app_link_components"], "\(path).dynamic_app_link_components")
            components = self.components(list, at: place, comment: "comments", isGoogle: true)
        }
        return components
    }
}
