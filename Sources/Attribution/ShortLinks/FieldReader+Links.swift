/// Reading what only links have.
extension FieldReader where Field == LinkField {
    mutating func target(_ field: LinkField) -> Link.Target? {
        fields.text(field).flatMap { target($0, of: field) }
    }

    private mutating func target(_ text: String, of field: LinkField) -> Link.Target? {
        do throws(DeepLinkURLError) {
            return try Link.Target(parsing: text)
        } catch {
            report(field, "\(field.rawValue): \(error.message)")
            return nil
        }
    }

    mutating func window() -> AttributionWindow? {
        let allowed = AttributionWindow.allowedSeconds
        return number(.windowSeconds, in: Int(allowed.lowerBound)...Int(allowed.upperBound))
            .flatMap { AttributionWindow(seconds: Int64($0)) }
    }

    mutating func variants() -> [Link.Variant] {
        var variants: [Link.Variant] = []
        for text in fields[.variants] {
            let parts = text.trimmed.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: true)
            guard parts.count == 3, Self.isWord(String(parts[0]), upTo: 32),
                let weight = Self.decimal(String(parts[1])), (1...10_000).contains(weight)
            else {
                report(
                    .variants,
                    "A variant is a name, a weight from 1 to 10000 and a destination, as in \"b 30 myapp://promo/b\"."
                )
                continue
            }
            let name = String(parts[0])
            guard !variants.contains(where: { $0.name == name }) else {
                report(.variants, "Two variants have the name \(name); give each its own.")
                continue
            }
            guard let target = target(String(parts[2]), of: .variants) else { continue }
            variants.append(Link.Variant(name: name, weight: weight, target: target))
        }
        guard variants.count > Link.Settings.maximumVariantCount else { return variants }
        report(.variants, "A link has \(Link.Settings.maximumVariantCount) variants at most; leave some out.")
        return []
    }

    /// That it is a JSON object is for whoever reads JSON to tell.
    mutating func metadata() -> String? {
        guard let text = fields.text(.metadata) else { return nil }
        let maximum = Link.Settings.maximumMetadataByteCount
        guard text.utf8.count <= maximum else {
            report(.metadata, "metadata has more than \(maximum) bytes; shorten it.")
            return nil
        }
        return self.text(.metadata, upTo: maximum)
    }

    /// Colours that scanners cannot tell apart count as none.
    mutating func qrLook() -> Link.QRDefaults {
        var look = Link.QRDefaults(
            foreground: color(.qrForeground),
            background: color(.qrBackground),
            errorCorrection: errorCorrection(.qrErrorCorrection)
        )
        do throws(QRColorError) {
            try (look.foreground ?? .black).requireReadable(on: look.background ?? .white)
        } catch {
            report(look.foreground == nil ? .qrBackground : .qrForeground, error.message)
            (look.foreground, look.background) = (nil, nil)
        }
        return look
    }
}

extension Link.Target {
    /// A deep link, or a path, which begins with a slash.
    ///
    /// - Throws: ``DeepLinkURLError`` naming the first rule that it breaks.
    public init(parsing text: String) throws(DeepLinkURLError) {
        guard text.trimmed.utf8.first == UInt8(ascii: "/") else {
            self = .url(try DeepLinkURL(parsing: text))
            return
        }
        self = .path(try LinkPath(parsing: text))
    }
}
