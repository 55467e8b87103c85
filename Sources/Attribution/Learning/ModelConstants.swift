/// Every constant of the model, with its source and its effect.
///
/// "Specified" values come from the product's description of matching. Simulations chose the others (`Simulate`).
///
/// Four numbers follow each constant. They show what changes in three simulated worlds if this constant alone is 25 %
/// smaller or larger (`Simulate turkey-10000 world-10000 venue-10000 seed=11`). The first three are the largest
/// changes, in points, of the shares of right matches, of found conversions, and of organic launches with a campaign.
/// The fourth is the largest change of the calibration error. `.ci/sensitivity` measures the changes and writes them
/// here. The next line has the four values themselves in each world, measured with the current constants.
///
/// As they stand: turkey 98.1 68.6 0.7 0.003; world 97.8 74.7 1.1 0.005; venue 96.2 61.1 2.8 0.008.
///
/// Bounds of memory and time are not part of the model and are defined with their types.
enum ModelConstants {
    // MARK: Answers
    /// The probability that a match needs, unless the app sets another one.
    static let minimumConfidence = 0.70  // specified; 3.8 6.4 3.0 0.003
    /// The largest confidence that is reported for a fingerprint: less than 1, and equal to the confidence of
    /// a signed token.
    ///
    /// A limit of 0.95 understates most matches and makes the calibration error 0.04.
    static let highestConfidence = 0.99  // specified; 0.0 0.0 0.0 0.236
    /// The plain rule (the newest click matches) applies for this many seconds after the start of learning.
    static let freshSeconds = 3600.0  // 0.1 0.0 0.1 0.000
    /// The plain rule applies until the model has learnt from this many launches.
    static let freshLaunches = 10.0  // 0.0 0.0 0.0 0.000

    // MARK: Visitors
    /// Above this many clicks with one visitor hash, the address belongs to several people.
    static let maximumVisitorClicks = 4  // 0.0 0.0 0.0 0.000
    /// If the launch's address has this many other clicks and launches, equal agents no longer mean one person.
    static let crowdedAddressThreshold = 4.0  // 0.0 0.0 0.0 0.001
    /// If a fingerprint has at most this many clicks, clicks with equal agents and without an address count as one
    /// person's.
    static let lowTrafficClicks = 4  // 0.0 0.0 0.0 0.000
    /// The share of a click's conversions that remains if its visitor has launched since.
    static let remainingShareAfterLaunch = 0.02  // 0.0 0.0 0.0 0.000
    /// New launches a second by a device that has launched: one device in twenty is set up again each day.
    static let reinstallRate = 0.05 / 86_400  // 0.0 0.0 0.0 0.001

    // MARK: Conversions
    /// k · s: the conversions per click before any were learnt.
    static let conversionsPerClick = 0.15  // 0.1 0.0 0.1 0.001
    /// The weight of the prior of conversions, in clicks.
    static let conversionPriorClicks = 100.0  // 0.0 0.0 0.0 0.001
    /// The weight of the prior that a form is the only one of its platform, in conversions.
    static let formSharePriorConversions = 10.0  // 0.0 0.0 0.0 0.001

    // MARK: Delays
    /// The share of people who install at once.
    static let promptDelayShare = 0.70  // specified; 0.1 0.0 0.1 0.001
    /// The median delay in seconds of people who install at once.
    static let promptDelayMedian = 240.0  // specified; 0.1 0.0 0.1 0.001
    /// The standard deviation of the logarithm of the delay of people who install at once.
    static let promptDelaySigma = 0.9  // specified; 0.1 0.0 0.1 0.001
    /// The share of people who install later.
    static let lateDelayShare = 0.30  // specified; 0.1 0.0 0.1 0.001
    /// The median delay in seconds of people who install later.
    static let lateDelayMedian = 18_000.0  // specified; 0.0 0.0 0.0 0.000
    /// The standard deviation of the logarithm of the delay of people who install later.
    static let lateDelaySigma = 1.7  // specified; 0.1 0.0 0.1 0.001
    /// The share of delays that may have any length.
    static let evenDelayShare = 1.0 / 30  // 0.0 0.0 0.0 0.000
    /// The weight of the prior of delays, in conversions.
    static let delayPriorConversions = 30.0  // 0.0 0.0 0.0 0.001
    /// The lower limit of the share of clicks that are old enough for a delay; the count of the delay is divided by
    /// this share.
    static let minimumBinExposure = 0.02  // 0.0 0.0 0.0 0.000
    /// The lower limit of the share of all conversions that the counted clicks can have led to by now.
    static let minimumExposure = 0.05  // 0.0 0.0 0.0 0.000

    // MARK: Addresses
    /// The prior probability that a device has the exact address again, by ``ClickAge``.
    ///
    /// The values are high, because low values are the worse error: different addresses would then mean strangers.
    static let exactAgreements = [0.70, 0.65, 0.50, 0.40, 0.35]  // specified; 0.9 1.0 0.6 0.004
    /// The probability that a device has another address near the earlier one.
    static let nearAgreement = 0.06  // 0.0 0.0 0.1 0.001
    /// The weight of the prior of agreement, in pairs of a click and a launch.
    static let agreementPriorPairs = 80.0  // 0.1 0.1 0.1 0.001
    /// The prior share of clicks with a known address.
    static let clickAddressShare = 0.9  // 0.0 0.0 0.0 0.001
    /// The weight of the prior of how often a stranger launches at the address of one visitor, in launches.
    static let repeatPriorLaunches = 4.0  // 0.0 0.0 0.0 0.000
    /// The number of strangers among the launches of ``repeatPriorLaunches``.
    static let repeatPriorMet = 0.2  // 0.0 0.0 0.0 0.000
    /// With fewer launches than this (older ones count less), an address counts as an address without a launch.
    static let firstMeetingLimit = 0.25  // 0.0 0.0 0.0 0.000
    /// With fewer launches than this, an address counts as an address with a single launch.
    static let secondMeetingLimit = 1.25  // 0.1 0.4 0.1 0.001
    /// The smallest probability that a stranger has the launch's address.
    static let minimumStrangerShare = 1e-9  // 0.0 0.0 0.0 0.000
    /// The largest probability that a stranger has the launch's address.
    static let maximumStrangerShare = 0.98  // 0.0 0.0 0.0 0.000
    /// If fewer recent clicks than this have an address, no address shares are computed from them.
    static let minimumRecentClicks = 8.0  // 0.0 0.0 0.0 0.000

    // MARK: Systems and signals
    /// The probability that a device agrees with itself on a value.
    static let sameDeviceAgreement = 0.97  // specified; 0.2 0.5 0.1 0.002
    /// The probability that a device differs from itself in a value.
    static let sameDeviceDifference = 0.03  // specified; 0.1 0.0 0.1 0.001
    /// The weight of the prior share of a value, in clicks.
    static let valuePriorClicks = 5.0  // 0.0 0.0 0.0 0.000
    /// The clicks among ``valuePriorClicks`` that have the value.
    static let valuePriorEqual = 2.0  // 0.0 0.0 0.0 0.000
    /// The smallest share of clicks that have a value.
    static let minimumValueShare = 0.005  // 0.0 0.0 0.0 0.000
    /// The largest share of clicks that have a value.
    static let maximumValueShare = 0.97  // 0.0 0.0 0.0 0.000

    // MARK: Launches from no click
    /// After this many seconds of observation, L(h), the rate of organic launches, has 63 % of its weight.
    static let organicTrustSeconds = 6 * 3600.0  // specified; 0.1 0.0 0.0 0.001
    /// The weight in L(h) of the rate expected from the clicks, in launches.
    static let organicPriorLaunches = 1.0  // 0.1 0.1 0.1 0.001
    /// L(h) may be at most this many standard deviations below the rate of the seen launches.
    static let organicDeviations = 2.0  // 0.0 0.0 0.0 0.000
    /// The weight of the prior of organic launches per click, in clicks.
    static let organicGuessClicks = 500.0  // 0.1 0.0 0.1 0.001
    /// The shortest span in seconds over which a fingerprint's live clicks are assumed to have come.
    static let minimumClickSpan = 6 * 3600.0  // 0.1 0.0 0.1 0.001
    /// The longest span in seconds over which a fingerprint's live clicks are assumed to have come.
    static let maximumClickSpan = 86_400.0  // 0.4 0.6 0.2 0.001
    /// After this many seconds a launch counts half for the current rate of launches.
    static let organicRateHalfLife = 600.0  // 0.1 0.1 0.1 0.001
    /// The weight of the average rate in the current rate of launches, in launches.
    static let organicRatePriorLaunches = 6.0  // 0.1 0.0 0.1 0.001
    /// After this many seconds a click counts half for the current rate of clicks.
    static let clickRateHalfLife = 180.0  // 0.1 0.1 0.0 0.001
    /// The weight of the average rate in the current rate of clicks, in clicks.
    static let clickRatePriorClicks = 4.0  // 0.0 0.1 0.0 0.001
    /// The weight of the prior that the rate of clicks does not change the rate of launches, in clicks.
    static let responsePriorClicks = 40.0  // 0.1 0.0 0.0 0.000
    /// The smallest rate of launches as a multiple of the average.
    static let minimumRelativeRate = 0.1  // 0.0 0.0 0.0 0.000
    /// The largest rate of launches as a multiple of the average.
    static let maximumRelativeRate = 30.0  // 0.1 0.0 0.1 0.001

    // MARK: Learning
    /// How far learning draws the odds of the posterior towards one to one: 0 not at all, 1 completely.
    static let posteriorDiscount = 0.4  // 0.1 0.1 0.1 0.001
    /// If the fingerprint alone makes a click this likely, the model learns whether its address agrees.
    static let certainFingerprint = 0.5  // 0.1 0.2 0.1 0.002
    /// The smallest share of agreeing conversions: an agreeing launch counts at most 1 / this value.
    static let minimumAgreeingShare = 0.05  // 0.0 0.0 0.0 0.000
    /// If addresses agree exactly with this probability, the address is half reliable.
    static let rarelyAgreeing = 0.1  // 0.1 0.0 0.1 0.001
    /// The reliability of the address is divided by 1 plus this many times the expected agreements by chance.
    static let chanceAgreementWeight = 5.0  // 0.1 0.0 0.1 0.001
    /// After this many seconds totals, organic launches and launches by address count half: two days.
    static let trafficHalfLife = 2 * 86_400.0  // 0.1 0.3 0.1 0.001
    /// After this many seconds conversions, clicks and the shares of values count half: a week.
    static let shareHalfLife = 7 * 86_400.0  // 0.1 0.0 0.1 0.000
    /// After this many seconds delays and agreements of addresses count half: two weeks.
    static let habitHalfLife = 14 * 86_400.0  // 0.0 0.0 0.0 0.001

    /// Returns ``exactAgreements`` of an age.
    static func exactAgreement(_ age: ClickAge) -> Double { exactAgreements[Int(age.rawValue)] }

    /// Returns the share of clicks that have a value, smoothed by its prior; never quite 0 nor 1.
    static func smoothedShare(_ equal: Double, of all: Double) -> Double {
        min(max((equal + valuePriorEqual) / (all + valuePriorClicks), minimumValueShare), maximumValueShare)
    }
}
