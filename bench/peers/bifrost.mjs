import { programAt, programVersion } from '../machine.mjs'

/**
 * A gateway of language models in Go.
 * @type {import('./index.mjs').Peer}
 */
export const bifrost = {
  name: 'bifrost',
  variable: 'BENCH_BIFROST',
  onlyNamed: true,
  // On this path, models need no provider prefix.
  chatPath: '/openai/v1/chat/completions',
  find() {
    const command = programAt('BENCH_BIFROST', 'bifrost-http')
    return command && { command, version: programVersion(command, ['-version'], /v?(\d+\.\d+\.\d+[\w.-]*)/) }
  },
  plan: ({ dir, port, origin }) => ({
    files: { 'config.json': JSON.stringify(config(origin)) },
    args: ['-app-dir', dir, '-host', '127.0.0.1', '-port', String(port), '-log-level', 'error'],
    // One processor for the Go scheduler is its single worker.
    env: { GOMAXPROCS: '1' },
    ready: `http://127.0.0.1:${port}/health`,
  }),
}

function config(origin) {
  const key = { name: 'bench', value: 'key-of-the-gateway', models: ['*'], weight: 1 }
  return {
    client: { enable_logging: false, drop_excess_requests: false, initial_pool_size: 1000 },
    providers: {
      openai: {
        keys: [key],
        network_config: { base_url: `http://127.0.0.1:${origin}`, max_retries: 0 },
        concurrency_and_buffer_size: { concurrency: 1000, buffer_size: 5000 },
      },
    },
    config_store: { enabled: false },
    logs_store: { enabled: false },
  }
}
