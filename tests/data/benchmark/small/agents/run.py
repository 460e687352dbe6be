import kit

print(kit.WIDTH)
