import { Copy } from '../parts/copy.tsx'
import { Download } from '../parts/download.tsx'

const FILE = 'portico.yaml'
const COMMANDS = [`npm start -- -f ${FILE}`, `portico -f ${FILE}`] as const

/** The quick start has no file: what is changed of it ends with the process, unless somebody takes it along. */
export function InMemory({ text }: { text: string }) {
  return (
    <p className="dim">
      It is held in memory: no file is written, and changes end with the process. To keep it,{' '}
      <Download text={text} name={FILE} /> and start with{' '}
      {COMMANDS.map((command, index) => (
        <span key={command}>
          {index > 0 && ' or '}
          <span className="mono">{command}</span> <Copy text={command} label={`Copy ${command}`} />
        </span>
      ))}
    </p>
  )
}
