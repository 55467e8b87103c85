/// Asks again until it is so; whether it was within so many seconds.
///
/// Each question is a request that a server answers, so that nothing spins.
func untilTrue(within seconds: Int, _ isTrue: () throws -> Bool) throws -> Bool {
    let end = ContinuousClock.now + .seconds(seconds)
    while ContinuousClock.now < end {
        if try isTrue() { return true }
    }
    return false
}
