internal import Threads

/// Sends responses whose bodies the loop pulls.
extension EventLoop {
    /// The maximum length of a piece in bytes; with the chunk's framing, a piece takes less than 64 KiB.
    private static let pieceByteCount = 63 * 1024

    /// Sends a response with a stream, piece by piece, as fast as the peer takes the bytes.
    ///
    /// - Returns: the next action; `close` after the body was cut off.
    func send(_ stream: any ResponseStream, of response: Response, on connection: Connection) async
        -> ConnectionState.Action
    {
        let version = connection.state.version
        // Without chunks, only the end of the connection ends the body.
        let context = connection.state.answering(closing: response.closesConnection || version == .http10)
        connection.stream = stream
        defer {
            connection.stream = nil
            stream.end()
        }
        let hasBody = response.status.allowsContent && context.method != .head
        guard append(response, context, to: connection) else { return cutOff(connection) }
        if hasBody {
            guard await sendPieces(of: stream, version, on: connection) else { return cutOff(connection) }
            guard version == .http10 || append(ResponseWriter.lastChunk, to: connection) else {
                return cutOff(connection)
            }
        }
        // If the server has begun to stop since the head was written, the peer must not send another request.
        return stopRequest.isStopping ? .close : connection.state.answered(at: .now())
    }

    /// Sends all pieces of a stream; returns `false` if it failed, the connection broke, or the server stops.
    private func sendPieces(of stream: any ResponseStream, _ version: Version, on connection: Connection)
        async -> Bool
    {
        while await flush(connection), !connection.isCutOff {
            let piece: [UInt8]?
            do { piece = try await stream.next(atMost: Self.pieceByteCount) } catch { return false }
            guard let piece else { return true }
            // A stream of empty pieces sends nothing, so only this test notices that the peer has reset the connection.
            let wasReset = connection.hasEnded && connection.socket.progress.isClosed
            guard !stopRequest.isStopping, !wasReset else { return false }
            guard piece.isEmpty || append(ResponseWriter.chunk(piece, version), to: connection) else {
                return false
            }
        }
        return false
    }

    private func append(_ bytes: [UInt8], to connection: Connection) -> Bool {
        if let session = connection.tls { return session.send(bytes, output: &connection.output) }
        connection.output += bytes
        return true
    }

    /// Ends a connection so that its peer sees that the body is incomplete.
    ///
    /// The server sends no close_notify. With HTTP/1.0, the end of the connection would look like the end of the body,
    /// so the server resets the connection.
    private func cutOff(_ connection: Connection) -> ConnectionState.Action {
        if connection.state.version == .http10 { connection.socket.resetOnClose() }
        connection.isBroken = true
        return .close
    }
}
