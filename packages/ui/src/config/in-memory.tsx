import { Copy } from '../parts/copy.tsx'
import { Download } from '../parts/download.tsx'

const FILE = 'portico.yaml'
const COMMANDS = [`npm start -- -f ${FILE}`, `portico -f ${FILE}`] as const

/** The quick start has no config file: this says how to keep changes. */
export function InMemory({ text }: { text: string }) {
  return (
    <p className="dim">
      Changes are kept in memory and lost on restart. To keep them, <Download text={text} name={FILE} /> and start with{' '}
      {COMMANDS.map((command, index) => (
        <span key={command}>
          {index > 0 && ' or '}
          <span className="mono">{command}</span> <Copy text={command} label={`Copy ${command}`} />
        </span>
      ))}
    </p>
  )
}
