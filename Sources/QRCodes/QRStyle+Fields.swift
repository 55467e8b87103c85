public import Attribution

extension QRStyle {
    /// The style that is wished for; what is not said is as the link has it, or else as ``standard``.
    ///
    /// Room for a logo brings level H with it where no other level is wished for.
    ///
    /// - Throws: ``FieldProblems``, all there are.
    public init(_ fields: QRStyleFields, of link: Link.Settings) throws(FieldProblems) {
        var reader = FieldReader(fields)
        let (usual, look) = (QRStyle.standard, link.qr)
        let foreground = reader.color(.foreground) ?? look.foreground ?? usual.foreground
        let background = reader.color(.background) ?? look.background ?? usual.background
        let hasRoomForLogo = reader.flag(.logo) ?? false
        let usualLevel: QRErrorCorrection =
            hasRoomForLogo ? .high : look.errorCorrection ?? usual.errorCorrection
        let level = reader.errorCorrection(.errorCorrection) ?? usualLevel
        let quietZone = reader.number(.quietZone, in: Self.allowedQuietZone) ?? usual.quietZone
        let pixels = reader.number(.size, in: Self.allowedPixels) ?? usual.pixels
        guard reader.problems.isEmpty else { throw FieldProblems(reader.problems) }
        do throws(QRCodeError) {
            try self.init(
                errorCorrection: level,
                foreground: foreground,
                background: background,
                quietZone: quietZone,
                pixels: pixels,
                hasRoomForLogo: hasRoomForLogo
            )
        } catch {
            throw FieldProblems([error.problem])
        }
    }
}

extension QRCodeError {
    /// The same as what is wrong with one wish.
    public var problem: FieldProblem {
        let field: QRStyleField =
            switch self {
            case .color: .foreground
            case .quietZoneOutOfRange: .quietZone
            case .pixelsOutOfRange, .tooFewPixels: .size
            case .emptyText, .textTooLong: .errorCorrection
            case .logoNeedsHighCorrection: .logo
            }
        return FieldProblem(field, message)
    }
}
