import { main } from './main.ts'

void main(process.argv.slice(2)).then((code) => {
  // `process.exit` is needed because connections to upstreams may be open when the main thread served traffic.
  process.exit(code)
})
