/** A button that saves a text as a file. The browser makes the file; the gateway is not called. */
export function Download({ text, name, type = 'application/yaml' }: { text: string; name: string; type?: string }) {
  const save = (): void => {
    const address = URL.createObjectURL(new Blob([text], { type }))
    const link = document.createElement('a')
    link.href = address
    link.download = name
    link.click()
    URL.revokeObjectURL(address)
  }
  return (
    <button type="button" className="link" onClick={save}>
      Download {name}
    </button>
  )
}
