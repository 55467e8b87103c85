internal import Attribution
internal import JSON
internal import Server

/// The built-in browsers, devices and releases, as tables and JSON.
enum TrialCatalogue {
    static var text: String {
        var profiles = Table([("PROFILE", .left), ("DEVICE", .left), ("WHAT IT IS", .left)])
        for profile in BrowserProfile.all { profiles.add([profile.name, profile.device, profile.title]) }
        var devices = Table([
            ("DEVICE", .left), ("MODEL", .left), ("OS", .left), ("SCREEN", .left),
            ("WIDTH IN PIXELS", .right),
        ])
        for device in TrialDevice.all {
            devices.add([device.name, device.model, device.osVersion, device.screenText, device.widthText])
        }
        var releases = Table([("SDK", .left), ("FORM", .left), ("HASHES", .left), ("CALLS ITSELF", .left)])
        for release in SDKRelease.all {
            let components = release.form.components.map(\.rawValue).joined(separator: ", ")
            releases.add([release.name, release.form.rawValue, components, release.versionField])
        }
        return [profiles.text, devices.text, releases.text].joined(separator: "\n\n")
    }

    static var json: String {
        var json = JSONWriter(isPretty: true)
        json.object { json in
            json.member("profiles") { json in
                json.array { json in for profile in BrowserProfile.all { write(profile, to: &json) } }
            }
            json.member("devices") { json in
                json.array { json in for device in TrialDevice.all { write(device, to: &json) } }
            }
            json.member("sdks") { json in
                json.array { json in
                    for release in SDKRelease.all {
                        json.object { json in
                            json.member("name", release.name)
                            json.member("platform", release.platform.rawValue)
                            json.member("form", release.form.rawValue)
                            json.member("version_field", release.versionField)
                        }
                    }
                }
            }
        }
        return json.text
    }

    private static func write(_ profile: BrowserProfile, to json: inout JSONWriter) {
        json.object { json in
            json.member("name", profile.name)
            json.member("title", profile.title)
            json.member("source", profile.source)
            json.member("device", profile.device)
            json.member("robot", profile.isRobot)
            json.member("user_agent", profile.agent)
        }
    }

    private static func write(_ device: TrialDevice, to json: inout JSONWriter) {
        json.object { json in
            json.member("name", device.name)
            json.member("platform", device.platform.rawValue)
            json.member("model", device.model)
            json.member("os_version", device.osVersion)
            json.member("screen", device.screenText)
            json.member("width", device.widthText)
        }
    }
}
