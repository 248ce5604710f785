// The same service, tested by a project of CommonJS modules with Jest.
const { createClient, isRefusal } = require('blueprintd')
const { useBlueprintd } = require('blueprintd/jest')

const blueprintd = useBlueprintd({ clock: 'real', args: ['--rate-limit', '5', '--rate-burst', '3'] })

test('a client with a fake Retry-After', async () => {
  const client = createClient({ url: blueprintd.apiHost, apiKey: blueprintd.apiKey, batch: false })
  let refused = 0
  for (let done = 0; done < 6; ) {
    try {
      await client.blueprint.list.query()
      done++
    } catch (error) {
      expect(isRefusal(error) && error.data.code).toBe('TOO_MANY_REQUESTS')
      refused++
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
  expect(refused).toBeGreaterThan(0)
})

test('a missing key is refused', async () => {
  const client = createClient({ url: blueprintd.baseUrl, apiKey: 'another-key' })
  await expect(client.blueprint.list.query()).rejects.toMatchObject({ data: { code: 'UNAUTHORIZED' } })
})
