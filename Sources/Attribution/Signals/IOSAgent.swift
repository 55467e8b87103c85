/// A user agent of an iPhone, an iPad or an iPod touch.
struct IOSAgent {
    /// `iPhone`, `iPad` or `iPod touch`, as `UIDevice.model` says; nil for an app that does not tell.
    let model: String?
    let system: OSVersionReading

    /// Nil when the agent is of no such device.
    ///
    /// - Parameters:
    ///   - text: the agent.
    ///   - touchPoints: where a script told them.
    ///   - releases: the known versions.
    init?(_ text: AgentText, touchPoints: Int?, _ releases: IOSReleases) {
        let device = Self.device(in: text)
        let isMacintosh = text.contains(.macintosh)
        if !isMacintosh, let model = Self.model(in: text) ?? device {
            self.model = device == "iPad" ? "iPad" : model
            system = Self.system(in: text, releases)
        } else if isMacintosh, touchPoints ?? 0 > 1 || device == "iPad" {
            // An iPad in desktop dress prints a frozen macOS version, but Safari's own is that of iPadOS.
            model = "iPad"
            system = Self.systemInDesktopDress(text, releases)
        } else if let darwin = text.darwin {
            model = nil
            system = releases.reading(ofDarwin: darwin)
        } else {
            return nil
        }
    }

    /// Where more than one occurs, the first says what the page is to take the device for.
    private static func model(in text: AgentText) -> String? {
        let phone = text.end(of: .iPhone) ?? .max
        let pad = text.end(of: .iPad) ?? .max
        let pod = text.end(of: .iPod) ?? .max
        let first = min(phone, pad, pod)
        guard first < .max else { return nil }
        return first == phone ? "iPhone" : first == pad ? "iPad" : "iPod touch"
    }

    /// What the machine's name in an app's token says: an iPhone's app on an iPad asks for an iPhone's pages, but
    /// other apps there run on an iPad.
    private static func device(in text: AgentText) -> String? {
        if let machine = text.value(after: .facebookDevice, while: \.isASCIILetter) {
            return model(machine)
        }
        guard let app = text.end(of: .instagram) ?? text.end(of: .threads),
            let bracket = text.bytes[app...].firstIndex(of: UInt8(ascii: "("))
        else { return nil }
        return model(text.bytes[(bracket + 1)...].prefix(while: \.isASCIILetter))
    }

    private static func model(_ machine: ArraySlice<UInt8>) -> String? {
        if machine.elementsEqual("iPhone".utf8) { return "iPhone" }
        if machine.elementsEqual("iPad".utf8) { return "iPad" }
        return machine.elementsEqual("iPod".utf8) ? "iPod touch" : nil
    }

    /// The version by the most reliable of the agent's statements.
    ///
    /// Since iOS 26 Safari prints 18_6 or 18_7 in the place of the system's version, so that this token counts
    /// only where something else bears it out. A weaker statement that agrees may add its patch number.
    private static func system(in text: AgentText, _ releases: IOSReleases) -> OSVersionReading {
        let token = text.version(after: .system)
        let exact = token.map(OSVersionReading.exact) ?? .unknown
        if let told = appToken(in: text) {
            if told.patch == 0, let token, token.majorMinor == told { return .exact(token) }
            return .exact(told)
        }
        let build = text.value(after: .mobile, while: \.isASCIIAlphanumeric)
            .map { releases.reading(ofBuild: $0) }
        if let build, build != .unknown { return build.sharpened(by: exact) }
        let version = text.version(after: .version)
        let isNew = version?.major ?? 0 >= 26
        // Without a token it is no Safari, and what it calls its version may be its own.
        guard let token else { return isNew ? version.map(reading(safari:)) ?? .unknown : .unknown }
        let isFrozen = releases.isFrozen(token)
        // Some browsers freeze the token as Safari does, and say Safari's version.
        if !(isFrozen && isNew), releases.isTruthfulBrowser(text.bytes) {
            // Chrome leaves the patch out, or writes a zero in its place.
            return token.patch > 0 ? .exact(token) : .minor(token)
        }
        if let version, isNew { return reading(safari: version).sharpened(by: exact) }
        return isFrozen && version == nil ? .frozen(token) : .exact(token)
    }

    private static func systemInDesktopDress(_ text: AgentText, _ releases: IOSReleases) -> OSVersionReading {
        if let told = appToken(in: text) { return .exact(told) }
        // Other browsers freeze Safari's version as well in this dress.
        guard let version = text.version(after: .version), !releases.isTruthfulBrowser(text.bytes) else {
            return .unknown
        }
        return reading(safari: version)
    }

    /// Apps give the version as their system does.
    private static func appToken(in text: AgentText) -> OSVersion? {
        text.version(after: .facebookSystemVersion) ?? text.version(after: .appSystem)
            ?? text.version(after: .appPadSystem)
    }

    /// Safari's own version is the system's, mostly without the patch.
    private static func reading(safari version: OSVersion) -> OSVersionReading {
        version.patch > 0 ? .exact(version) : .minor(version)
    }
}
