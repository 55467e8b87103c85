/// Every constant of the model: what it is, where it comes from, and how much it matters.
///
/// "Specified" values come from the product's description of matching. The others were chosen in the simulated worlds of
/// `Simulate`. The last line of each says what happens to three of them (`turkey-10000 world-10000 venue-10000 seed=11`) when
/// the constant alone is 25 % smaller or larger: by how many points the share of right matches, of found conversions and
/// of organic launches with a campaign changes at most, and by how much the calibration error.
///
/// BASELINE
///
/// `.ci/sensitivity` measures it again. Bounds of memory and time are not part of the model and stand with
/// their types.
enum ModelConstants {
    // MARK: Answers

    /// The probability that a match needs, unless the app says otherwise.
    ///
    /// Specified. MEASURED
    static let minimumConfidence = 0.70

    /// The largest confidence that is stated of a fingerprint: as much as of a signed token, and never certainty.
    ///
    /// Specified. A limit of 0.95 understated most matches and made the calibration error 0.04.
    ///
    /// MEASURED
    static let highestConfidence = 0.99

    /// The plain rule answers for this many seconds after learning began.
    ///
    /// MEASURED
    static let freshSeconds = 3600.0

    /// The plain rule answers until this many launches have been learnt from.
    ///
    /// MEASURED
    static let freshLaunches = 10.0

    // MARK: Visitors

    /// Above this many clicks with one visitor hash, the address belongs to several people.
    ///
    /// MEASURED
    static let maximumVisitorClicks = 4

    /// With this many other clicks and launches at the launch's address, equal agents no longer mean one person.
    ///
    /// MEASURED
    static let crowdedAddressThreshold = 4.0

    /// Up to this many clicks on a fingerprint, those without an address belong to one person.
    ///
    /// MEASURED
    static let lowTrafficClicks = 4

    /// The share of a click's conversions that remains when its visitor has launched since.
    ///
    /// MEASURED
    static let remainingShareAfterLaunch = 0.02

    /// New launches a second by a device that has launched: one device in twenty is set up anew each day.
    ///
    /// MEASURED
    static let reinstallRate = 0.05 / 86_400

    // MARK: Conversions

    /// k · s: the conversions per click before any were seen.
    ///
    /// MEASURED
    static let conversionsPerClick = 0.15

    /// The clicks for which the prior of conversions counts.
    ///
    /// MEASURED
    static let conversionPriorClicks = 100.0

    /// The conversions for which each form counts as its platform's only one.
    ///
    /// MEASURED
    static let formSharePriorConversions = 10.0

    // MARK: Delays

    /// The share of those who install at once.
    ///
    /// Specified. MEASURED
    static let promptDelayShare = 0.70

    /// Their median delay in seconds.
    ///
    /// Specified. MEASURED
    static let promptDelayMedian = 240.0

    /// The standard deviation of the logarithm of their delay.
    ///
    /// Specified. MEASURED
    static let promptDelaySigma = 0.9

    /// The share of those who install later.
    ///
    /// Specified. MEASURED
    static let lateDelayShare = 0.30

    /// Their median delay in seconds.
    ///
    /// Specified. MEASURED
    static let lateDelayMedian = 18_000.0

    /// The standard deviation of the logarithm of their delay.
    ///
    /// Specified. MEASURED
    static let lateDelaySigma = 1.7

    /// The share of delays that may have any length.
    ///
    /// MEASURED
    static let evenDelayShare = 1.0 / 30

    /// The conversions for which the prior of delays counts.
    ///
    /// MEASURED
    static let delayPriorConversions = 30.0

    /// The smallest share of clicks that counts as old enough for a delay: a learnt delay is divided by it.
    ///
    /// MEASURED
    static let minimumBinExposure = 0.02

    /// The smallest share of conversions that the counted clicks can have led to by now.
    ///
    /// MEASURED
    static let minimumExposure = 0.05

    // MARK: Addresses

    /// The probability that a device has the exact address again, by ``ClickAge``, before traffic has shown it.
    ///
    /// Specified. High, because too low a value is the dangerous error: strangers would then explain what differs.
    ///
    /// MEASURED
    static let exactAgreements = [0.70, 0.65, 0.50, 0.40, 0.35]

    /// The probability that a device has an address near the former one but not the same.
    ///
    /// MEASURED
    static let nearAgreement = 0.06

    /// The pairs for which the prior of agreement counts.
    ///
    /// MEASURED
    static let agreementPriorPairs = 80.0

    /// The share of clicks with a known address before any were seen.
    ///
    /// MEASURED
    static let clickAddressShare = 0.9

    /// The launches at an address of one visitor for which the prior of meeting a stranger there counts.
    ///
    /// MEASURED
    static let repeatPriorLaunches = 4.0

    /// The strangers met in the launches of ``repeatPriorLaunches``.
    ///
    /// MEASURED
    static let repeatPriorMet = 0.2

    /// Below this many faded launches, an address is one where no launch has been seen.
    ///
    /// MEASURED
    static let firstMeetingLimit = 0.25

    /// Below this many faded launches, an address is one where one launch has been seen.
    ///
    /// MEASURED
    static let secondMeetingLimit = 1.25

    /// The smallest probability that a stranger has the launch's address.
    ///
    /// MEASURED
    static let minimumStrangerShare = 1e-9

    /// The largest probability that a stranger has the launch's address.
    ///
    /// Measured up to 1. MEASURED
    static let maximumStrangerShare = 0.98

    /// From this many recent clicks with addresses on, their shares count.
    ///
    /// MEASURED
    static let minimumRecentClicks = 8.0

    // MARK: Systems and signals

    /// The probability that a device agrees with itself on a value.
    ///
    /// Specified, and measured up to 1. MEASURED
    static let sameDeviceAgreement = 0.97

    /// The probability that a device differs from itself in a value.
    ///
    /// Specified. MEASURED
    static let sameDeviceDifference = 0.03

    /// The clicks with a value for which its prior share counts.
    ///
    /// MEASURED
    static let valuePriorClicks = 5.0

    /// The clicks among ``valuePriorClicks`` that have the value.
    ///
    /// MEASURED
    static let valuePriorEqual = 2.0

    /// The smallest share of clicks that have a value.
    ///
    /// MEASURED
    static let minimumValueShare = 0.005

    /// The largest share of clicks that have a value.
    ///
    /// MEASURED
    static let maximumValueShare = 0.97

    // MARK: Launches from no click

    /// After this many seconds of observation, L(h) is trusted to 63 %.
    ///
    /// Specified. MEASURED
    static let organicTrustSeconds = 6 * 3600.0

    /// The launches for which the rate expected from the clicks counts in L(h).
    ///
    /// MEASURED
    static let organicPriorLaunches = 1.0

    /// The clicks for which a guess counts in L(h) for learning.
    ///
    /// MEASURED
    static let organicGuessClicks = 500.0

    /// The shortest span in seconds from which live clicks come, for the rate of a fingerprint.
    ///
    /// MEASURED
    static let minimumClickSpan = 6 * 3600.0

    /// The longest span in seconds from which live clicks come, for the rate of a fingerprint.
    ///
    /// MEASURED
    static let maximumClickSpan = 86_400.0

    /// After this many seconds a launch counts half for the current rate of launches.
    ///
    /// MEASURED
    static let organicRateHalfLife = 600.0

    /// The launches for which the average rate counts in the current one.
    ///
    /// MEASURED
    static let organicRatePriorLaunches = 6.0

    /// After this many seconds a click counts half for the current rate of clicks.
    ///
    /// MEASURED
    static let clickRateHalfLife = 180.0

    /// The clicks for which the average rate counts in the current one.
    ///
    /// MEASURED
    static let clickRatePriorClicks = 4.0

    /// The clicks for which launches at a level of the click rate count as unmoved by it.
    ///
    /// MEASURED
    static let responsePriorClicks = 40.0

    /// The smallest rate of launches as a multiple of the average.
    ///
    /// MEASURED
    static let minimumRelativeRate = 0.1

    /// The largest rate of launches as a multiple of the average.
    ///
    /// MEASURED
    static let maximumRelativeRate = 30.0

    // MARK: Learning

    /// How far learning discounts the posterior: 0 not at all, 1 completely.
    ///
    /// MEASURED
    static let posteriorDiscount = 0.4

    /// A fingerprint that makes one click at least this likely without the address shows how addresses behave.
    ///
    /// MEASURED
    static let certainFingerprint = 0.5

    /// The smallest share of agreeing conversions: an agreeing launch stands for at most its inverse.
    ///
    /// MEASURED
    static let minimumAgreeingShare = 0.05

    /// The probability of exact agreement at which the address is half reliable.
    ///
    /// MEASURED
    static let rarelyAgreeing = 0.1

    /// How much one expected agreement by chance takes from the address's reliability.
    ///
    /// MEASURED
    static let chanceAgreementWeight = 5.0

    /// After this many seconds totals, organic launches and launches by address count half: two days.
    ///
    /// MEASURED
    static let trafficHalfLife = 2 * 86_400.0

    /// After this many seconds conversions, clicks and the shares of values count half: a week.
    ///
    /// MEASURED
    static let shareHalfLife = 7 * 86_400.0

    /// After this many seconds delays and agreements of addresses count half: two weeks.
    ///
    /// MEASURED
    static let habitHalfLife = 14 * 86_400.0

    /// Returns ``exactAgreements`` of an age.
    static func exactAgreement(_ age: ClickAge) -> Double { exactAgreements[Int(age.rawValue)] }

    /// Returns the share of clicks that have a value, smoothed by its prior; never quite 0 nor 1.
    static func smoothedShare(_ equal: Double, of all: Double) -> Double {
        min(max((equal + valuePriorEqual) / (all + valuePriorClicks), minimumValueShare), maximumValueShare)
    }
}
