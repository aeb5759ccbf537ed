import { main } from './main.ts'

void main(process.argv.slice(2)).then((code) => {
  // Connections to upstreams may still be open when the main thread served traffic.
  process.exit(code)
})
