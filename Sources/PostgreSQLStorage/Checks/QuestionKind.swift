#if PostgreSQL
internal import Attribution
internal import PostgreSQL
internal import Storage

/// A kind of question; one statement asks all questions of a kind in a turn (on Citus, one for each shard).
enum QuestionKind: Hashable {
    case install, key, moreOfKey, openClicks, newestClicks, around, countAround, liveClicks, learnt, model
    case link, linkByID, linksOfCampaign, linkContents
    /// The slot is a constant of the statement, so that PostgreSQL opens one partition and not all of them.
    ///
    /// It is nil if no partition of the slot is known, for example because the identifier is wrong.
    case home(slot: Int64?), openClick(slot: Int64?)
}

/// A question as an element of a statement: its parts in the order of the names in ``QuestionStatements``.
struct QuestionElement {
    let kind: QuestionKind
    /// The bucket of the rows that the question reads; nil if their table has none.
    let bucket: Int64?
    private let numbers: [Int64]
    private let text: String?

    init(_ question: RowQuestion, _ slots: SlotTable) {
        func known(_ number: Int64) -> Int64? {
            let slot = RowHome(of: number).slot
            return slots.contains(slot) ? slot : nil
        }
        switch question {
        case .install(let hash, let scope): self.init(.install, scope, hash)
        case .home(let number):
            self.init(.home(slot: known(number)), [number, RowHome(of: number).slot], bucket: number)
        case .key(let hash, let scope): self.init(.key, scope, hash)
        case .moreOfKey(let hash, let scope, let moment):
            self.init(.moreOfKey, scope, hash, [moment.milliseconds])
        case .openClick(let position, let hash, let scope):
            let (since, click) = (position.clickedAt, position.click)
            self.init(.openClick(slot: known(click)), scope, hash, [since, click, RowHome(of: click).slot])
        case .openClicks(let hash, let scope): self.init(.openClicks, scope, hash)
        case .newestClicks(let query, let count):
            let (moment, destination) = (query.at.milliseconds, Int64(bitPattern: query.destination.url))
            self.init(.newestClicks, query.scope, query.key, [moment, destination, Int64(count)])
        case .around(let near, let scope, let moment):
            let near = Int64(bitPattern: near)
            self.init(.around, [scope.number, near, moment.milliseconds], bucket: near)
        case .countAround(let address, let scope, let moment, let first):
            let (exact, near) = (Int64(bitPattern: address.exact), Int64(bitPattern: address.near))
            let numbers = [scope.number, near, moment.milliseconds, exact, first.milliseconds]
            self.init(.countAround, numbers, bucket: near)
        case .liveClicks(let scope, let second):
            self.init(.liveClicks, [scope.number, second, LiveClicks.hour(ofSecond: second)])
        case .learnt(let family, let key, let scope):
            self.init(.learnt, [scope.number, Int64(family.rawValue), Int64(bitPattern: key)])
        case .model(let scope): self.init(.model, [scope.number])
        case .link(let slug): self.init(.link, [], slug.text)
        case .linkByID(let id): self.init(.linkByID, [Int64(bitPattern: id.high), Int64(bitPattern: id.low)])
        case .linksOfCampaign(let key, let moment):
            self.init(.linksOfCampaign, [moment.milliseconds], key.text)
        case .linkContents(let number): self.init(.linkContents, [number])
        }
    }

    /// The lowest six bits of the argument `bucket` are the bucket.
    private init(_ kind: QuestionKind, _ numbers: [Int64], _ text: String? = nil, bucket: Int64? = nil) {
        (self.kind, self.numbers, self.text, self.bucket) = (kind, numbers, text, bucket.map { $0 & 63 })
    }

    private init(_ kind: QuestionKind, _ scope: Scope, _ hash: KeyedHash, _ further: [Int64] = []) {
        let (index, rest) = (Int64(bitPattern: hash.index), Int64(bitPattern: hash.rest))
        self.init(kind, [scope.number, index, rest] + further, bucket: index)
    }

    /// Returns the parameters of a statement: an array for each part of its elements, and the texts after them.
    ///
    /// On Citus, the last parameter contains the buckets of the elements; all these buckets are in one shard.
    static func parameters(_ elements: [QuestionElement], onCitus isCitus: Bool) -> Parameters {
        var parameters = Parameters()
        for part in elements.first?.numbers.indices ?? 0..<0 {
            parameters.append(elements.map { $0.numbers[part] })
        }
        let texts = elements.compactMap(\.text)
        if !texts.isEmpty { parameters.append(texts) }
        let buckets = elements.compactMap(\.bucket)
        if isCitus, !buckets.isEmpty { parameters.append(buckets) }
        return parameters
    }
}
#endif
