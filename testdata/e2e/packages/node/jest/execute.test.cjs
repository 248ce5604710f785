const { useBlueprintd } = require('blueprintd/jest')

const blueprintd = useBlueprintd({ per: 'test' })

test.each(['Ada', 'Grace', 'Barbara'])('greets %s', async (name) => {
  const { id } = await blueprintd.createFile(process.env.HELLO)
  const { executionId, result } = await blueprintd.client.blueprint.execute.mutate({ id, variables: { greeting: `Hello ${name} and` } })
  expect(result).toMatchObject({ status: 'completed', outputs: { english: { text: `Hello ${name} and, world!` } } })
  expect((await blueprintd.wait(executionId)).progress).toBe(100)
  expect((await blueprintd.client.blueprint.list.query()).pagination.total).toBe(1)
})
