// The memory of the runtime without a program: the modules that every proxy needs, and as many empty workers.
import { createServer } from 'node:net'
import 'node:http2'
import 'node:tls'
import { isMainThread, parentPort, Worker } from 'node:worker_threads'

if (isMainThread) startWorkers()
else {
  // Keeps the thread alive.
  parentPort?.on('message', () => {})
  parentPort?.postMessage('ready')
}

function startWorkers() {
  const [port, workers] = process.argv.slice(2).map(Number)
  let starting = workers ?? 0
  const listen = () => {
    const answer = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n'
    createServer((socket) => socket.on('error', () => {}).end(answer)).listen(port, '127.0.0.1')
  }
  for (let i = 0; i < (workers ?? 0); i++) {
    new Worker(new URL(import.meta.url)).once('message', () => {
      if (--starting === 0) listen()
    })
  }
}
