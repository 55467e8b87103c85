/// The requests of a run of wrk, as the Lua script that makes them.
struct WrkScript {
    let text: String

    private static let common = """
        local thread = 0
        function setup(t)
            thread = thread + 1
            t:set("id", thread)
        end
        function done(summary, latency)
            local e = summary.errors
            print(string.format(
                '{"requests":%d,"microseconds":%d,"failures":%d,"p50":%.1f,"p99":%.1f}',
                summary.requests, summary.duration, e.connect + e.read + e.write + e.status + e.timeout,
                latency:percentile(50), latency:percentile(99)))
        end

        """

    private static func headers(_ key: String, isClosing: Bool) -> String {
        let close = isClosing ? #"["Connection"] = "close", "# : ""
        return
            #"{ \#(close)["Authorization"] = "Bearer \#(key)", ["X-SDK-Version"] = "paylisher-ios/1.8.9", "#
            + #"["User-Agent"] = "\#(SampleRequests.userAgent)" }"#
    }

    /// Checks of fingerprints that nobody has clicked with, spread over the whole index.
    static func misses(key: String, isClosing: Bool = false) -> WrkScript {
        // Made before the run: what the load costs takes time from whom it measures.
        WrkScript(
            text: common + """
                local requests, position = {}, 0
                function init()
                    math.randomseed(id * 7919)
                    for n = 1, 16384 do
                        local hex = string.format("ffffffff%08x%048x", math.random(0, 0x7fffffff), id * 65536 + n)
                        requests[n] = wrk.format("GET", "\(SampleRequests.checkPath)" .. hex,
                            \(headers(key, isClosing: isClosing)))
                    end
                end
                function request()
                    position = position % 16384 + 1
                    return requests[position]
                end
                """
        )
    }

    /// Clicks that nobody has made before; `series` tells them from those of other runs.
    static func clicks(key: String, series: UInt32) -> WrkScript {
        let mark = String(repeating: "@", count: 64)
        return WrkScript(
            text: common + """
                local head, tail, count
                function init()
                    local made = wrk.format("POST", "\(SampleRequests.clickPath)",
                        { ["Content-Type"] = "application/json", ["Authorization"] = "Bearer \(key)",
                          ["User-Agent"] = "\(SampleRequests.userAgent)" },
                        '\(SampleRequests.clickBody(fingerprint: mark))')
                    local start = string.find(made, "\(mark)", 1, true)
                    head, tail, count = string.sub(made, 1, start - 1), string.sub(made, start + 64), 0
                end
                function request()
                    count = count + 1
                    return head .. string.format("\(SampleRequests.hexadecimal(series))%08x%048x", id, count) .. tail
                end
                """
        )
    }

    /// Checks of stored clicks, each of which is matched: `count` of them for all threads, from the number `first` on.
    static func matches(key: String, first: Int, count: Int, threads: Int = 2) -> WrkScript {
        WrkScript(
            text: common + """
                local number
                function init() number = \(first) + math.floor(\(count) / \(threads)) * (id - 1) end
                function request()
                    local hex = string.format("\(SeededFingerprint.prefix)%016x", number)
                    number = number + 1
                    return wrk.format("GET", "\(SampleRequests.checkPath)" .. hex, \(headers(key, isClosing: false)))
                end
                """
        )
    }

    /// One request again and again.
    static func get(_ target: String, key: String) -> WrkScript {
        WrkScript(
            text: common + """
                local made
                function init() made = wrk.format("GET", "\(target)", \(headers(key, isClosing: false))) end
                function request() return made end
                """
        )
    }
}
