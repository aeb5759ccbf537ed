// Free ports, and waiting until a server answers on one.
import { get as getHttp } from 'node:http'
import { get as getHttps } from 'node:https'
import { connect, createServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

/** @returns {Promise<number>} */
export function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}

/**
 * Waits until `url` gives 200 (or, for `tcp:`, until the port accepts).
 * @param {string} url
 * @param {{ hasEnded: () => boolean }} child
 * @returns {Promise<string | null>} why it never will, or null
 */
export async function untilAnswers(url, child, timeoutMs = 15_000) {
  const deadline = Date.now() + timeoutMs
  while (!(await answers(url))) {
    if (child.hasEnded()) return 'it ended before it was ready'
    if (Date.now() > deadline) return `not ready after ${timeoutMs / 1000} s`
    await delay(2)
  }
  return null
}

function answers(url) {
  const { protocol, hostname, port } = new URL(url)
  return new Promise((resolve) => {
    if (protocol === 'tcp:') {
      const socket = connect(Number(port), hostname)
      socket.once('error', () => resolve(false))
      socket.once('connect', () => socket.destroy() && resolve(true))
      return
    }
    const options = { agent: false, rejectUnauthorized: false, timeout: 1000 }
    const request = (protocol === 'https:' ? getHttps : getHttp)(url, options, (response) => {
      response.resume()
      response.once('end', () => resolve(response.statusCode === 200))
      response.once('error', () => resolve(false))
    })
    request.once('timeout', () => request.destroy())
    request.once('error', () => resolve(false))
  })
}
