from fastmcp import Context


async def work(ctx: Context):
    await ctx.set_state("stored", True)
