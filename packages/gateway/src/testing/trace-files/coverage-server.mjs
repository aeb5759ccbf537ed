// Loaded by every thread of a traced program with `--import`. In a worker it counts the calls of functions and serves the
// files with at least one call since the last request for them, as a JSON list of URLs.
import { createServer } from 'node:http'
import { Session } from 'node:inspector'
import { isMainThread } from 'node:worker_threads'

if (!isMainThread) serveCalls(process.env.TRACE_FILES_SOCKET)

function serveCalls(socket) {
  const session = new Session()
  session.connect()
  session.post('Profiler.enable')
  session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  const server = createServer((_request, response) => {
    // In the same thread, the inspector calls back before `post` returns.
    session.post('Profiler.takePreciseCoverage', (error, { result } = { result: [] }) => {
      if (error !== null) throw new Error(error.message)
      response.end(JSON.stringify(result.filter(wasCalled).map(({ url }) => url)))
    })
  })
  server.listen(socket)
}

function wasCalled({ functions }) {
  return functions.some(({ ranges }) => ranges[0].count > 0)
}
