internal import Threads

/// `Timeouts` in nanoseconds, worked out once.
package struct TimeoutTable: Sendable {
    let header: Int64
    let body: Int64
    let idle: Int64
    let write: Int64
    let linger: Int64
    let farewell: Int64
    let deliveryWatch: Int64

    package init(_ timeouts: Timeouts) {
        header = timeouts.header.wholeNanoseconds
        body = timeouts.body.wholeNanoseconds
        idle = timeouts.idle.wholeNanoseconds
        write = timeouts.write.wholeNanoseconds
        linger = timeouts.linger.wholeNanoseconds
        farewell = timeouts.farewell.wholeNanoseconds
        deliveryWatch = timeouts.deliveryWatch.wholeNanoseconds
    }
}
