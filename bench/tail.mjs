// A client that watches all requests as they end.
import { get } from 'node:http'

/** @param {number} adminPort */
export async function openTail(adminPort) {
  const [request, response] = await new Promise((resolve, reject) => {
    const asked = get(`http://127.0.0.1:${adminPort}/api/requests/stream`, (answer) => resolve([asked, answer]))
    asked.on('error', reject)
  })
  let isOver = false
  // The stream is discarded: reading it costs the reader, not the gateway.
  response.resume()
  response.on('close', () => (isOver = true))
  request.on('error', () => {})
  return {
    /** Returns null while the stream is open. */
    problem: () =>
      response.statusCode === 200 ? (isOver ? 'the tail has ended' : null) : `the tail got ${response.statusCode}`,
    close: () => request.destroy(),
  }
}
