import Foundation
import Testing

/// The contrast of the style sheet's colours, as WCAG 2.2 computes it.
@Suite("Contrast in the dashboard")
struct ContrastTests {
    private let schemes: [[String: String]]

    init() async throws {
        let browser = await DashboardBrowser.signedIn(to: try await TestService())
        let tags = PageMarkup(await browser.get("/").text).tags
        let path = try #require(tags.first { $0.attributes["rel"] == "stylesheet" }?.attributes["href"])
        let style = await browser.get(path).text
        schemes = style.split(separator: ":root {").filter { $0.contains("--ink") }.map { block in
            let colors = block.prefix { $0 != "}" }.split(separator: "--").dropFirst()
                .map { $0.split(whereSeparator: { ": ;\n".contains($0) }).map(String.init) }
            return Dictionary(colors.filter { $0.count > 1 }.map { ($0[0], $0[1]) }) { first, _ in first }
        }
    }

    private func components(_ name: String, _ scheme: [String: String]) throws -> [Double] {
        let digits = try #require(scheme[name]).dropFirst()
        let long = digits.count == 3 ? digits.map { "\($0)\($0)" }.joined() : String(digits)
        let number = try #require(long.count == 6 ? Int(long, radix: 16) : nil, "\(name) \(long)")
        return [number >> 16, number >> 8 & 255, number & 255].map { Double($0) / 255 }
    }

    private func contrast(_ one: [Double], _ other: [Double]) -> Double {
        let lights = [one, other].map { color in
            let linear = color.map { $0 <= 0.04045 ? $0 / 12.92 : pow(($0 + 0.055) / 1.055, 2.4) }
            return zip(linear, [0.2126, 0.7152, 0.0722]).map { $0 * $1 }.reduce(0, +)
        }
        return (max(lights[0], lights[1]) + 0.05) / (min(lights[0], lights[1]) + 0.05)
    }

    @Test("texts have a contrast of 4.5 and lines of 3 in light and in dark")
    func texts() throws {
        #expect(schemes.count == 2)
        for scheme in schemes {
            #expect(scheme.count == 12, "\(scheme)")
            let paper = try components("paper", scheme)
            let card = try components("card", scheme)
            for name in ["ink", "soft", "link", "good", "bad"] {
                let color = try components(name, scheme)
                #expect(contrast(color, paper) >= 4.5, "\(name) on paper")
                #expect(contrast(color, card) >= 4.5, "\(name) on card")
            }
            for name in ["a", "b", "c", "d"] {
                #expect(try contrast(components(name, scheme), paper) >= 3, "\(name)")
            }
            // The darkest cell of a heat table mixes 36 % of the tint with the paper (`.h5` in `style.css`).
            let (ink, tint) = (try components("ink", scheme), try components("a", scheme))
            let heat = zip(tint, paper).map { 0.36 * $0 + 0.64 * $1 }
            #expect(contrast(ink, heat) >= 4.5)
        }
    }

    @Test("the formula gives 21 for black on white, and less than 4.5 for #777 on white")
    func formula() {
        #expect(abs(contrast([0, 0, 0], [1, 1, 1]) - 21) < 0.001)
        // #777 on white is the usual example of a contrast just below 4.5.
        #expect(contrast([0x77, 0x77, 0x77].map { Double($0) / 255 }, [1, 1, 1]) < 4.5)
    }
}
