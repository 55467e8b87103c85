import Attribution
import Testing

@Suite("Screens")
struct ScreenTableTests {
    private let screens = DeviceData.embedded.screens

    @Test("of Android have the widths of the test vectors")
    func vectors() throws {
        let vectors = try Vectors.read("canonical", as: Vectors.Canonical.self).androidWidth
        #expect(vectors.count == 7)
        for vector in vectors {
            let screen = try #require(ScreenSize(vector.cssWidth, vector.cssHeight))
            let widths = screens.androidWidths(points: screen.width, pixelRatio: vector.pixelRatio)
            #expect(widths == [ScreenTable.Width(pixels: vector.widthPixels, weight: 1)], "\(vector)")
        }
    }

    @Test(
        "of Android have the possible widths of panels, else the largest width, and no width without ratio",
        arguments: [
            (412, 2.625, [1080]), (412, 3.5, [1440]), (393, 2.75, [1080]), (360, 2, [720]),
            (411, 2.608_695_65, [1072]), (1000, 1, [1000]), (100, 1.5, [150]), (442, 2.75, [1215]),
            (610, 2, [1220]), (306, 4, [1224]), (427, 3, [1280]), (364, 3.5, [1272]), (419, 3, [1256]),
            (438, 3, [1312]), (825, 2.125, [1752]), (412, 0, []), (412, -1, []), (412, .nan, []),
            (412, nil, []), (412, 11, []), (0, 3, []),
        ] as [(Int, Double?, [Int])]
    )
    func androidWidth(points: Int, ratio: Double?, widths: [Int]) {
        #expect(screens.androidWidths(points: points, pixelRatio: ratio).map(\.pixels) == widths)
    }

    @Test("of iOS have the widths of all panels with these points, points times scale first")
    func iosWidths() throws {
        func widths(_ width: Double, _ height: Double, _ scale: Double?) throws -> [Int] {
            screens.iosWidths(of: try #require(ScreenSize(width, height)), scale: scale).map(\.pixels)
        }
        #expect(try widths(390, 844, 3) == [1170])
        #expect(try widths(844, 390, 3) == [1170])
        #expect(try widths(320, 693, 3).first == 960)
        #expect(try widths(320, 693, 3).contains(1170))
        #expect(try widths(375, 812, 3).first == 1125)
        #expect(try Set(widths(375, 812, 3)).isSuperset(of: [1284, 1080]))
        #expect(try widths(820, 1180, 2) == [1640])
        #expect(try widths(390, 844, nil) == [1170])
        #expect(try Set(widths(414, 896, nil)) == [828, 1242])
        #expect(try widths(820, 1180, nil).isEmpty)
        #expect(try widths(820, 1180, .infinity).isEmpty)
        #expect(try widths(390, 844, 2.5) == [975])
    }

    @Test("have widths with weights that add up to one")
    func weights() throws {
        for (width, height) in [(320.0, 693.0), (375, 812), (414, 896), (390, 844)] {
            let screen = try #require(ScreenSize(width, height))
            for scale in [nil, 2, 3] as [Double?] {
                let sum = screens.iosWidths(of: screen, scale: scale).reduce(0) { $0 + $1.weight }
                #expect(abs(sum - 1) < 1e-9)
            }
        }
    }
}
