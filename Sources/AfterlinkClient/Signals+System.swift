public import AfterlinkCore
internal import Foundation

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

extension Signals {
    /// Returns the values that Foundation and the kernel know: machine, time zone and languages.
    public static func system() -> Signals {
        var signals = Signals()
        signals.machine = machineName
        signals.timezone = TimeZone.current.identifier
        signals.language = Bundle.main.preferredLocalizations.first
        signals.languages = Locale.preferredLanguages
        // "Base" is a folder of layouts and no language.
        signals.localizations = Bundle.main.localizations.filter { $0 != "Base" }
        return signals
    }

    /// The machine's name in the kernel, such as `iPhone15,2`.
    private static var machineName: String? {
        var names = utsname()
        guard unsafe uname(&names) == 0 else { return nil }
        // The bytes of the tuple are a text that ends with a zero.
        return unsafe withUnsafeBytes(of: &names.machine) { bytes in
            unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
    }
}
