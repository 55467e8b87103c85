public import Attribution

extension QRPicture {
    /// The code of a link, by the link's address.
    ///
    /// - Throws: ``FieldProblems`` when the code does not fit into a picture of that size.
    public init(ofLink url: String, in style: QRStyle) throws(FieldProblems) {
        do throws(QRCodeError) {
            try self.init(of: Link.scannedURL(url), style: style)
        } catch {
            throw FieldProblems([error.problem])
        }
    }

    /// What a file of a picture may be.
    public enum Format: String, CaseIterable, Sendable {
        case svg, png

        /// By the ending of a file's name, whatever its case; nil for any other.
        public init?(fileName: String) {
            let name = fileName.asciiLowercased
            guard let format = Self.allCases.first(where: { name.hasSuffix(".\($0.rawValue)") }) else {
                return nil
            }
            self = format
        }
    }

    /// The picture as a file; its title stands in an SVG alone.
    public func file(_ format: Format, title: String) -> [UInt8] {
        switch format {
        case .svg: Array(svg(title: title).utf8)
        case .png: png()
        }
    }
}
