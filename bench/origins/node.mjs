// Fallback origin: `node node.mjs <port> <folder of files>`.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { ANSWERS, FILES, SMALL_BODY } from './origin.mjs'

const [port, dir] = process.argv.slice(2)
const bodyByPath = new Map(Object.keys(FILES).map((path) => [path, readFileSync(join(dir ?? '.', path))]))
for (const [path, body] of Object.entries(ANSWERS)) bodyByPath.set(path, Buffer.from(body))
const small = Buffer.from(SMALL_BODY)

createServer({ keepAliveTimeout: 600_000 }, (request, response) => {
  request.resume()
  const body = bodyByPath.get(request.url ?? '/') ?? small
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length }).end(body)
}).listen(Number(port), '127.0.0.1', 4096)
