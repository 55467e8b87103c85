/// The Lua scripts that make the requests of runs of wrk; each follows ``common``.
enum WrkScript {
    /// The threads of a run; a run with fewer connections has as many threads as connections.
    static let threadCount = 2

    static let common = """
        local thread = 0
        function setup(t)
            thread = thread + 1
            t:set("id", thread)
            if second and thread == 2 then t.addr = second end
        end
        function done(summary, latency)
            local e = summary.errors
            print(string.format(
                '{"requests":%d,"microseconds":%d,"failures":%d,"p50":%.1f,"p99":%.1f}',
                summary.requests, summary.duration, e.connect + e.read + e.write + e.status + e.timeout,
                latency:percentile(50), latency:percentile(99)))
        end

        """ + SampleAddress.lua

    /// The header fields of a check; `address` is a Lua expression.
    private static func headers(_ key: String, from address: String, isClosing: Bool = false) -> String {
        let close = isClosing ? #"["Connection"] = "close", "# : ""
        return
            #"{ \#(close)["Authorization"] = "Bearer \#(key)", ["X-SDK-Version"] = "paylisher-ios/1.8.9", "#
            + #"["User-Agent"] = "\#(SampleRequests.userAgent)", ["X-Forwarded-For"] = \#(address) }"#
    }

    /// Checks of fingerprints without a click, spread over the whole index.
    static func misses(key: String, isClosing: Bool = false) -> String {
        let headers = headers(key, from: "address(math.random(0, 9999999))", isClosing: isClosing)
        // The requests are made before the run, because wrk shares the server's cores.
        return """
            local requests, position = {}, 0
            function init()
                math.randomseed(id * 7919)
                for n = 1, 16384 do
                    local hex = string.format("ffffffff%08x%048x", math.random(0, 0x7fffffff), id * 65536 + n)
                    requests[n] = wrk.format("GET", "\(SampleRequests.checkPath)" .. hex, \(headers))
                end
            end
            function request()
                position = position % 16384 + 1
                return requests[position]
            end
            """
    }

    /// New clicks; `series` distinguishes them from the clicks of other runs.
    static func clicks(key: String, series: UInt32) -> String {
        let mark = String(repeating: "@", count: 64)
        return """
            local head, middle, tail, count, addresses
            function init()
                local made = wrk.format("POST", "\(SampleRequests.clickPath)", \(clickHeaders(key)),
                    '\(SampleRequests.clickBody(fingerprint: mark))')
                local place = string.find(made, "\(addressMark)", 1, true)
                local start = string.find(made, "\(mark)", 1, true)
                head, middle = string.sub(made, 1, place - 1), string.sub(made, place + 15, start - 1)
                tail, count, addresses = string.sub(made, start + 64), 0, {}
                for n = 0, 65520 do addresses[n] = address(math.random(0, 9999999)) end
            end
            function request()
                count = count + 1
                return head .. addresses[count % 65521] .. middle
                    .. string.format("\(SampleRequests.hexadecimal(series))%08x%048x", id, count) .. tail
            end
            """
    }

    /// Clicks with the signals of a kind of device, nearly all from addresses that have not sent these values before.
    static func clicks(from device: SampleDevice, key: String, series: UInt32) -> String {
        """
        local heads, tails, count, addresses = {}, {}, 0, {}
        function init()
            math.randomseed(\(series) * 64 + id)
            local function pick(list) return list[math.random(#list)] end
            \(SampleDevice.lists)
            for n = 0, 16383 do
                local made = wrk.format("POST", "\(SampleRequests.clickPath)", \(clickHeaders(key, device.userAgent)),
                    \(device.body))
                local place = string.find(made, "\(addressMark)", 1, true)
                heads[n], tails[n] = string.sub(made, 1, place - 1), string.sub(made, place + 15)
            end
            for n = 0, 65520 do addresses[n] = address(math.random(0, 9999999)) end
        end
        function request()
            count = count + 1
            return heads[count % 16384] .. addresses[count % 65521] .. tails[count % 16384]
        end
        """
    }

    private static let addressMark = "@@@.@@@.@@@.@@@"

    private static func clickHeaders(_ key: String, _ agent: String = SampleRequests.userAgent) -> String {
        #"{ ["Content-Type"] = "application/json", ["Authorization"] = "Bearer \#(key)", "#
            + #"["User-Agent"] = "\#(agent)", ["X-Forwarded-For"] = "\#(addressMark)" }"#
    }

    /// Checks that match stored clicks: `count` of them over all threads, from the number `first` on.
    ///
    /// Each check comes from the address of its click: if many did not, the server would learn from round to round that
    /// launches from other addresses are rarely matches.
    static func matches(key: String, first: Int, count: Int) -> String {
        let headers = headers(key, from: "address(number)")
        return """
            local number
            function init() number = \(first) + math.floor(\(count) / \(threadCount)) * (id - 1) end
            function request()
                local hex = string.format("\(SeedPlan.fingerprintPrefix)%016x", number)
                local made = wrk.format("GET", "\(SampleRequests.checkPath)" .. hex, \(headers))
                number = number + 1
                return made
            end
            """
    }

    /// Purchases of the installations `install-0`, `install-1` and so on, `count` of them in each request.
    static func events(key: String, series: UInt32, count: Int, installs: Int) -> String {
        """
        local number = 0
        function request()
            local events = {}
            for n = 1, \(count) do
                number = number + 1
                events[n] = string.format('{"event_id":"\(series)-%d-%d","name":"purchase",'
                    .. '"install_id":"install-%d","amount":"12.90","currency":"EUR"}', id, number, number % \(installs))
            end
            return wrk.format("POST", "/v1/events", { ["Content-Type"] = "application/json",
                ["Authorization"] = "Bearer \(key)", ["X-Forwarded-For"] = address(number) },
                '{"events":[' .. table.concat(events, ",") .. ']}')
        end
        """
    }

    /// The page of a link, as a browser asks for it.
    static func page(_ target: String, host: String, agent: String) -> String {
        """
        local made
        function init()
            made = wrk.format("GET", "\(target)", { ["Host"] = "\(host)", ["User-Agent"] = "\(agent)",
                ["Accept"] = "text/html,*/*;q=0.8", ["Accept-Language"] = "tr-TR,tr;q=0.9,en;q=0.8",
                ["X-Forwarded-For"] = address(math.random(0, 9999999)) })
        end
        function request() return made end
        """
    }

    /// One request, repeated.
    static func get(_ target: String, key: String) -> String {
        """
        local made
        function init() made = wrk.format("GET", "\(target)", \(headers(key, from: "address(0)"))) end
        function request() return made end
        """
    }
}
