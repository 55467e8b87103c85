public import Attribution

/// What may be wished of a QR code's looks, by its name in a query; commands write it with hyphens.
///
/// ``QRStyle/init(_:of:)`` alone gives it a meaning.
public enum QRStyleField: String, SettingField {
    /// Width and height of the picture in pixels.
    case size
    /// Of the dark modules: `1a2b3c`, with or without a `#` before it.
    case foreground
    case background
    /// `L`, `M`, `Q` or `H`.
    case errorCorrection = "error_correction"
    /// Width of the empty border in modules.
    case quietZone = "quiet_zone"
    /// Whether the centre is left free for a logo, at level H.
    case logo

    public var kind: SettingFieldKind {
        switch self {
        case .size, .quietZone: .number
        case .logo: .flag
        case .foreground, .background, .errorCorrection: .text
        }
    }
}

/// Wishes for a QR code's looks as texts.
public typealias QRStyleFields = FieldTexts<QRStyleField>

extension QRStyleFields {
    /// What a query wishes for, which comes without its question mark.
    ///
    /// - Throws: ``FieldProblems`` for items that there are not, that are empty and that stand there twice: who has a
    ///   code printed does not see that a wish was not heard.
    public init(query: String) throws(FieldProblems) {
        self.init()
        var problems: [FieldProblem] = []
        for item in QueryItem.items(ofQuery: query[...].utf8) {
            guard let field = QRStyleField(rawValue: item.name) else {
                let names = QRStyleField.allCases.map(\.rawValue).joined(separator: ", ")
                problems.append(FieldProblem(String(item.name.prefix(64)), "There are only \(names)."))
                continue
            }
            if item.value.isEmpty {
                // A browser takes what follows a # for a place in the page, and does not send it.
                let advice = "is empty; leave it out, and write colours without #, as in foreground=1a2b3c."
                problems.append(FieldProblem(field, "\(field.rawValue) \(advice)"))
            } else if text(field) != nil {
                problems.append(FieldProblem(field, "\(field.rawValue) stands there twice; say it once."))
            }
            set(field, item.value)
        }
        guard problems.isEmpty else { throw FieldProblems(problems) }
    }
}
